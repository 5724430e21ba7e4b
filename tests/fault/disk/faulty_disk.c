/* A disk that can be watched and can fail: loaded in front of the C library (LD_PRELOAD) by the fault tests.
 *
 * It concerns itself with files directly in the directory GALLOON_DISK_UNDER alone.
 *
 *   GALLOON_DISK_TRACE=FILE   append a record of each write, truncation, sync, creation and removal
 *   GALLOON_DISK_SWITCH=FILE  while this file exists, the disk has the fault that stands in it:
 *                             sync_error@N   from the N-th sync on, every one fails with EIO
 *                             write_error@N  the same for writes
 *                             full@N         the disk takes N more bytes, the last write is cut short, then ENOSPC
 *                             slow@N         every sync takes N milliseconds longer
 *                             readonly@0     no file can be opened for writing (EROFS)
 *
 * A record is: u32 operation, u32 length of the name, u64 offset, u64 size, the name, and for a write its bytes.
 * `galloon_mark` adds a record of the test's own. The shared-memory file of SQLite (-shm) is not data: it is left out.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, TRUNCATE, SYNC, REMOVE, MARK };
#define MOST_FILES 4096

static char *names[MOST_FILES]; /* by descriptor; NULL for files that are none of our business */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *under;
static const char *switch_path;
static int trace = -1;
static char switched[64]; /* what the switch said when it was last looked at */
static char fault[32];
static long long fault_at, syncs, writes, written; /* counted since then */

static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static int (*real_truncate)(int, off64_t);
static int (*real_fdatasync)(int);
static int (*real_fsync)(int);
static int (*real_unlink)(const char *);

__attribute__((constructor)) static void begin(void) {
    real_open = dlsym(RTLD_NEXT, "open64");
    real_close = dlsym(RTLD_NEXT, "close");
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_truncate = dlsym(RTLD_NEXT, "ftruncate64");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    under = getenv("GALLOON_DISK_UNDER");
    const char *path = getenv("GALLOON_DISK_TRACE");
    if (path != NULL) trace = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    switch_path = getenv("GALLOON_DISK_SWITCH");
}

/* The name of a path inside the directory, "." for the directory itself, NULL for anything else. */
static const char *inside(const char *path) {
    if (under == NULL || path == NULL) return NULL;
    size_t length = strlen(under);
    if (strncmp(path, under, length) != 0) return NULL;
    if (path[length] == 0) return ".";
    if (path[length] != '/' || strchr(path + length + 1, '/') != NULL) return NULL;
    size_t size = strlen(path);
    if (size > 4 && strcmp(path + size - 4, "-shm") == 0) return NULL;
    return path + length + 1;
}

static void record(uint32_t operation, const char *name, uint64_t offset, uint64_t size, const void *data) {
    if (trace < 0) return;
    uint32_t head[2] = {operation, (uint32_t)strlen(name)};
    uint64_t place[2] = {offset, size};
    pthread_mutex_lock(&lock);
    real_write(trace, head, sizeof head);
    real_write(trace, place, sizeof place);
    real_write(trace, name, head[1]);
    if (data != NULL) real_write(trace, data, size);
    pthread_mutex_unlock(&lock);
}

void galloon_mark(const char *text) { record(MARK, text, 0, 0, NULL); }

static const char *name_of(int file) { return file >= 0 && file < MOST_FILES ? names[file] : NULL; }

static int has_fault(const char *name);

static int opened(const char *path, int flags, mode_t mode) {
    const char *name = inside(path);
    if (name != NULL && (flags & (O_WRONLY | O_RDWR | O_CREAT)) && has_fault("readonly")) {
        errno = EROFS;
        return -1;
    }
    int is_new = name != NULL && (flags & O_CREAT) && access(path, F_OK) != 0;
    int file = real_open(path, flags, mode);
    if (file >= 0 && file < MOST_FILES) {
        free(names[file]);
        names[file] = name == NULL ? NULL : strdup(name);
    }
    if (file >= 0 && is_new) record(CREATE, name, 0, 0, NULL);
    return file;
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(path, flags, mode);
}

int close(int file) {
    if (file >= 0 && file < MOST_FILES && names[file] != NULL) {
        free(names[file]);
        names[file] = NULL;
    }
    return real_close(file);
}

/* Whether the disk has this fault now. Counts begin anew when the switch says something else. */
static int has_fault(const char *name) {
    if (switch_path == NULL) return 0;
    char said[64] = "";
    int file = real_open(switch_path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t size = read(file, said, sizeof said - 1);
        said[size > 0 ? size : 0] = 0;
        real_close(file);
    }
    pthread_mutex_lock(&lock);
    if (strcmp(said, switched) != 0) {
        strcpy(switched, said);
        fault[0] = 0;
        syncs = writes = written = 0;
        sscanf(said, "%31[a-z_]@%lld", fault, &fault_at);
    }
    int has = strcmp(fault, name) == 0;
    pthread_mutex_unlock(&lock);
    return has;
}

/* How much of a write the disk takes: all, a part, or -1 with errno. */
static ssize_t taken(size_t size) {
    if (has_fault("write_error") && __sync_add_and_fetch(&writes, 1) >= fault_at) {
        errno = EIO;
        return -1;
    }
    if (!has_fault("full")) return (ssize_t)size;
    long long left = fault_at - __sync_fetch_and_add(&written, (long long)size);
    if (left <= 0) {
        errno = ENOSPC;
        return -1;
    }
    return left < (long long)size ? (ssize_t)left : (ssize_t)size;
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset) {
    const char *name = name_of(file);
    if (name == NULL) return real_pwrite(file, data, size, offset);
    ssize_t room = taken(size);
    if (room < 0) return -1;
    ssize_t done = real_pwrite(file, data, (size_t)room, offset);
    if (done > 0) record(WRITE, name, (uint64_t)offset, (uint64_t)done, data);
    return done;
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset) { return pwrite64(file, data, size, offset); }

int ftruncate64(int file, off64_t size) {
    const char *name = name_of(file);
    int status = real_truncate(file, size);
    if (name != NULL && status == 0) record(TRUNCATE, name, 0, (uint64_t)size, NULL);
    return status;
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

static int synced(int file, int (*real)(int)) {
    const char *name = name_of(file);
    if (name == NULL) return real(file);
    if (has_fault("sync_error") && __sync_add_and_fetch(&syncs, 1) >= fault_at) {
        errno = EIO;
        return -1;
    }
    if (has_fault("slow")) {
        struct timespec pause = {fault_at / 1000, (fault_at % 1000) * 1000000};
        nanosleep(&pause, NULL);
    }
    int status = real(file);
    if (status == 0) record(SYNC, name, 0, 0, NULL);
    return status;
}

int fdatasync(int file) { return synced(file, real_fdatasync); }
int fsync(int file) { return synced(file, real_fsync); }

int unlink(const char *path) {
    const char *name = inside(path);
    int status = real_unlink(path);
    if (name != NULL && status == 0) record(REMOVE, name, 0, 0, NULL);
    return status;
}
