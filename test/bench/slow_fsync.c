/* Delays each fsync() and fdatasync() of a process by FSYNC_DELAY_US, as a slow disk does. */

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void delay(void) {
  const char *us = getenv("FSYNC_DELAY_US");
  if (us != NULL) usleep(atoi(us));
}

int fsync(int file) {
  delay();
  return syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  delay();
  return syscall(SYS_fdatasync, file);
}
