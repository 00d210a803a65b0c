# Makes NAME_pb2.py from proto/NAME.proto, as a module of rigcal.messages. Schemas keep their C++
# file names, so that Protobuf recognizes a schema that both languages load.
set(raw ${OUT_DIR}/.raw)
file(MAKE_DIRECTORY ${raw})
execute_process(COMMAND ${PROTOC} --proto_path=${SOURCE_DIR} --python_out=${raw} --pyi_out=${raw}
                        proto/${NAME}.proto
                COMMAND_ERROR_IS_FATAL ANY)
foreach(extension py pyi)
  file(READ ${raw}/proto/${NAME}_pb2.${extension} text)
  string(REPLACE "from proto import " "from rigcal.messages import " text "${text}")
  string(REPLACE "from proto." "from rigcal.messages." text "${text}")
  file(WRITE ${OUT_DIR}/${NAME}_pb2.${extension} "${text}")
endforeach()
