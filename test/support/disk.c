/*
 * A preload library that replaces the disk of a process.
 *
 * FSYNC_DELAY_US delays each fsync(), as a slow disk does.
 *
 * While there is a file READ_ONLY_IF, each write to a place in a file fails, as on a file system that turned read-only.
 *
 * If DISK is a folder, it has what a power cut leaves of the files in the folder STORE: all that was synced, and some
 * of the sectors that were written since. A file whose directory was not synced since it was made has a name with "~",
 * and is lost; one that was unlinked may be there again. Syncs of files whose names end in UNSYNCED do nothing.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECTOR 512
#define FILES 4096

static const char *disk, *store, *unsynced;
/* The percentage of written sectors that reach the disk at once. */
static int early;
/* What the process wrote to each of its files since it synced it. */
static off_t first[FILES], end[FILES];

__attribute__((constructor)) static void start(void) {
  srandom(getpid() ^ time(NULL));
  early = (int[]){0, 5, 50, 95}[random() % 4];
  disk = getenv("DISK");
  store = getenv("STORE");
  unsynced = getenv("UNSYNCED");
}

static int by_chance(int percent) { return random() % 100 < percent; }

static int ends_in(const char *text, const char *ending) {
  size_t length = strlen(text), size = strlen(ending);
  return length >= size && strcmp(text + length - size, ending) == 0;
}

/* The name of a file in the store, without the index of the WAL, which is made again; "" is the store itself. */
static const char *name_of(const char *path) {
  size_t length = disk == NULL ? 0 : strlen(store);
  if (length == 0 || strncmp(path, store, length) != 0 || ends_in(path, "-shm")) return NULL;
  return path[length] == '/' ? path + length + 1 : path[length] == 0 ? "" : NULL;
}

static const char *name_of_open(int file, char path[PATH_MAX]) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = disk == NULL || file >= FILES ? 0 : readlink(link, path, PATH_MAX - 1);
  path[length < 0 ? 0 : length] = 0;
  return ends_in(path, " (deleted)") ? NULL : name_of(path);
}

static char *on_disk(char path[PATH_MAX], const char *name, const char *suffix) {
  snprintf(path, PATH_MAX, "%s/%s%s", disk, name, suffix);
  return path;
}

static int open_on_disk(const char *name) {
  char path[PATH_MAX];
  int copy = open(on_disk(path, name, ""), O_RDWR | O_CLOEXEC);
  return copy >= 0 ? copy : open(on_disk(path, name, "~"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static int is_read_only(void) {
  const char *path = getenv("READ_ONLY_IF");
  return path != NULL && access(path, F_OK) == 0;
}

ssize_t pwrite64(int file, const void *data, size_t size, off_t offset) {
  char path[PATH_MAX];
  if (is_read_only()) {
    errno = EROFS;
    return -1;
  }
  ssize_t written = syscall(SYS_pwrite64, file, data, size, offset);
  const char *name = written > 0 ? name_of_open(file, path) : NULL;
  if (name == NULL) return written;
  if (end[file] == 0 || offset < first[file]) first[file] = offset;
  if (offset + written > end[file]) end[file] = offset + written;
  int copy = open_on_disk(name);
  for (off_t at = offset, next; at < offset + written; at = next) {
    next = (at / SECTOR + 1) * SECTOR;
    if (next > offset + written) next = offset + written;
    if (by_chance(early)) syscall(SYS_pwrite64, copy, (char *)data + (at - offset), next - at, at);
  }
  close(copy);
  return written;
}

/* Makes the names of the files those of the store. */
static void sync_names(void) {
  char path[PATH_MAX], other[PATH_MAX];
  DIR *folder = opendir(disk);
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    on_disk(path, entry->d_name, "");
    if (ends_in(path, "~")) {
      *strrchr(strcpy(other, path), '~') = 0;
      rename(path, other);
    } else {
      snprintf(other, sizeof other, "%s/%s", store, entry->d_name);
      if (access(other, F_OK) != 0) syscall(SYS_unlink, path);
    }
  }
  closedir(folder);
}

int fsync(int file) {
  char path[PATH_MAX], part[65536];
  struct stat real, synced;
  const char *us = getenv("FSYNC_DELAY_US"), *name = name_of_open(file, path);
  if (us != NULL) usleep(atoi(us));
  if (name == NULL) return syscall(SYS_fsync, file);
  if (unsynced != NULL && ends_in(name, unsynced)) return 0;
  if (*name == 0) return sync_names(), 0;
  int copy = open_on_disk(name);
  for (off_t at = first[file], size; at < end[file]; at += size) {
    if ((size = pread(file, part, sizeof part, at)) <= 0) break;
    syscall(SYS_pwrite64, copy, part, size, at);
  }
  end[file] = 0;
  fstat(file, &real);
  fstat(copy, &synced);
  if (real.st_size < synced.st_size) syscall(SYS_ftruncate, copy, real.st_size);
  return close(copy);
}

int fdatasync(int file) { return fsync(file); }

int unlink(const char *path) {
  char copy[PATH_MAX];
  int result = syscall(SYS_unlink, path);
  const char *name = result == 0 ? name_of(path) : NULL;
  if (name == NULL) return result;
  syscall(SYS_unlink, on_disk(copy, name, "~"));
  if (by_chance(50)) syscall(SYS_unlink, on_disk(copy, name, ""));
  return 0;
}
