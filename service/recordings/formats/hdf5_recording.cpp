#include "service/recordings/formats/hdf5_recording.hpp"

#include <algorithm>

#include "proto/recording/export/hdf5_file.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/named_columns.hpp"

namespace service {
namespace {

std::string list_of(const proto::Hdf5File& file) {
  constexpr std::size_t kShown = 20;
  std::string list;
  for (std::size_t k = 0; k < std::min(file.columns().size(), kShown); ++k) {
    list += (list.empty() ? "\"" : ", \"") + file.columns()[k].name + "\"";
  }
  return list.empty() ? "no numbers" : list;
}

}  // namespace

ImportedRecording import_hdf5(const std::string& path, const Rig& rig) {
  const proto::Hdf5File file(path);
  if (!rig.format) {
    throw proto::InputError(rig.path + ": has no recording { }. Add one that names " +
                            "the data sets of " + path + " (" + list_of(file) + ") as columns");
  }
  return import_named_columns(path, "data set", *rig.format, [&](const std::string& name) {
    const proto::Hdf5File::Column* const column = file.find(name);
    if (column == nullptr) {
      throw proto::InputError(path + ": no data set \"" + name + "\", or several in groups; the " +
                              "file has " + list_of(file) + "; " +
                              (file.has_blocks()
                                   ? "pandas wrote a table without column names; save it with "
                                     "to_hdf(..., format='fixed')"
                                   : "correct the name in the rig file's recording { }"));
    }
    return file.read(*column);
  });
}

}  // namespace service
