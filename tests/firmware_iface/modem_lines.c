/* A pseudo-terminal has no modem lines, and libserialport refuses to open a port without them. This
 * library answers the four requests about them if the kernel does not, so that libserialport itself
 * can be tested over a pseudo-terminal. Link it, or name it in LD_PRELOAD. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <termios.h>

int ioctl(int fd, unsigned long request, ...) {
  static int (*real_ioctl)(int, unsigned long, ...) = 0;
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (real_ioctl == 0) *(void**)&real_ioctl = dlsym(RTLD_NEXT, "ioctl");

  const int error_before = errno;
  const int result = real_ioctl(fd, request, argument);
  if (result == 0 || (errno != ENOTTY && errno != EINVAL)) return result;
  switch (request) {
    case TIOCMGET:
      *(int*)argument = TIOCM_CTS | TIOCM_DSR | TIOCM_CAR;
      break;
    case TIOCMSET:
    case TIOCMBIS:
    case TIOCMBIC:
      break;
    default:
      return result;
  }
  errno = error_before;
  return 0;
}
