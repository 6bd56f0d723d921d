/* SPDX-License-Identifier: MIT
 *
 * libc.c: a walk through libc: some hundred functions, each called a few times, so that as many of
 * its instructions as possible are executed under the stepper.
 *
 * Flags: -O1 -fno-builtin -Wno-unused-result -Wno-nonnull -Wl,-z,lazy
 *
 * Libc: glibc
 */
#include <argp.h>
#include <argz.h>
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <execinfo.h>
#include <fnmatch.h>
#include <fts.h>
#include <ftw.h>
#include <getopt.h>
#include <glob.h>
#include <grp.h>
#include <iconv.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <langinfo.h>
#include <libgen.h>
#include <locale.h>
#include <malloc.h>
#include <monetary.h>
#include <netdb.h>
#include <obstack.h>
#include <poll.h>
#include <printf.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>
#include <wordexp.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free  free

static volatile unsigned long sink;
#define USE(x) (sink += (unsigned long)(x))

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void forget(void *node)
{
    (void)node;
}

static void strings(void)
{
    static char a[5000];
    static char b[5000];
    const size_t sizes[] = {0,  1,  3,  7,   8,   15,  16,  31,  32,   33,
                            63, 64, 65, 127, 200, 256, 300, 700, 1500, 4500};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        memset(a, 'x', n);
        a[n] = '\0';
        memcpy(b, a, n + 1);
        memmove(b + 1, b, n);
        memmove(b, b + 1, n);
        b[n] = '\0';
        USE(strlen(a) + strnlen(a, n / 2) + (unsigned)memcmp(a, b, n) + (unsigned)strcmp(a, b));
        USE((unsigned)strncmp(a, b, n) + (unsigned)strcasecmp(a, b) +
            (unsigned)strncasecmp(a, b, n));
        USE(memchr(a, 'y', n) != NULL);
        USE(memrchr(a, 'y', n) != NULL);
        USE(rawmemchr(a, 0) != NULL);
        USE(strchr(a, 'y') != NULL);
        USE(strrchr(a, 'x') != NULL);
        USE(strchrnul(a, 'y') != NULL);
        USE(strspn(a, "xyz") + strcspn(a, "abc") + strcspn(a, "q"));
        USE(strpbrk(a, "abcdef") != NULL);
        USE(strstr(a, "xxxy") != NULL);
        USE(strcasestr(a, "XXY") != NULL);
        USE(memmem(a, n, "xxyx", 4) != NULL);
        USE(stpcpy(b, a) != NULL);
        USE(strcpy(b, a) != NULL);
        USE(strncpy(b, a, n) != NULL);
        USE(mempcpy(b, a, n) != NULL);
        USE(stpncpy(b, a, n) != NULL);
        b[n / 2] = '\0';
        strcat(b, "tail");
        strncat(b, a, n / 4);
        USE(memccpy(b, a, 'q', n) != NULL);
        free(strdup(a));
        free(strndup(a, n / 3));
    }
    char text[] = "one,two;three four";
    char *save = NULL;
    for (char *t = strtok_r(text, ",; ", &save); t != NULL; t = strtok_r(NULL, ",; ", &save)) {
        USE(*t);
    }
    char *rest = text;
    USE(strsep(&rest, "o") != NULL);
    USE(strverscmp("a10", "a9") + strcoll("a", "b"));
    USE(strxfrm(b, "abc", sizeof b));
    USE(strsignal(SIGSEGV) != NULL);
    USE(strerror(ENOENT) != NULL);
    USE(strerror(9999) != NULL);
    USE(strfry(a) != NULL);
    swab(a, b, 40);
    USE(basename(strcpy(b, "/usr/lib/x")) != NULL);
    USE(dirname(b) != NULL);
}

static void wide(void)
{
    wchar_t w[200];
    wchar_t v[200];
    char bytes[400];
    mbstate_t state = {0};
    const char *from = "gr\xc3\xbc\xc3\x9f \xe2\x82\xac";
    USE(mbstowcs(w, from, 200));
    USE(wcstombs(bytes, w, sizeof bytes));
    USE(mbsrtowcs(w, &from, 200, &state));
    wmemset(w, L'x', 100);
    w[100] = 0;
    wcscpy(v, w);
    USE(wcslen(w) + (unsigned)wcscmp(w, v) + (unsigned)wmemcmp(w, v, 100) +
        (unsigned)wcscoll(w, v));
    USE(wcschr(w, L'y') != NULL);
    USE(wcsrchr(w, L'x') != NULL);
    USE(wcsstr(w, L"xxy") != NULL);
    USE(wmemchr(w, L'y', 100) != NULL);
    USE(wcsspn(w, L"x") + wcscspn(w, L"y"));
    USE(wcstol(L" -123", NULL, 10));
    USE(wcstod(L"1.5e3", NULL));
    USE(swprintf(v, 200, L"%ls %d %f %s", L"wide", 5, 2.5, "narrow"));
    int number = 0;
    USE(swscanf(L"17 x", L"%d %ls", &number, v));
    USE(towupper(L'a') + iswalpha(L'a') + iswctype(L'1', wctype("digit")) + wcwidth(L'a'));
    USE(wctob(L'a') + btowc('a') + (unsigned)mblen("a", 1));
}

static void numbers(void)
{
    char out[2000];
    FILE *null = fopen("/dev/null", "w");
    const double doubles[] = {0.0,  -0.0, 1.5,   3.14159265358979, 1e300, 1e-310, 123456789.125,
                              1e22, 0.1,  5e-324};
    for (unsigned i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        double d = doubles[i];
        USE(sprintf(out, "%f %e %g %a %.0f %.20f %+10.3e %-12g| %#g %'f", d, d, d, d, d, d, d, d, d,
                    d));
        USE(strtod(out, NULL) + (double)strtof(out, NULL) + (double)strtold(out, NULL));
        USE(sprintf(out, "%Lf %Le %Lg %La", (long double)d, (long double)d, (long double)d,
                    (long double)d));
        USE(strtold(out, NULL));
        int decimal = 0;
        int sign = 0;
        USE(ecvt_r(d, 10, &decimal, &sign, out, sizeof out));
        USE(fcvt_r(d, 3, &decimal, &sign, out, sizeof out));
        USE(gcvt(d, 6, out) != NULL);
    }
    fprintf(null, "%d %5ld %-7lld %x %#o %c %s %10.3s %p %n%% %zu %hhd %jd %+d % d %08x %*d", 1, 2L,
            3LL, 4, 5, 'c', "str", "trunc", (void *)&sink, (int[1]){0}, (size_t)9, 1, (intmax_t)2,
            3, 4, 5, 6, 7);
    USE(printf_size_info(NULL, 0, NULL) + snprintf(out, 5, "%s", "too long"));
    char *made = NULL;
    USE(asprintf(&made, "%1$s %2$*3$d", "a", 5, 6));
    free(made);
    int i = 0;
    long l = 0;
    double d = 0;
    float f = 0;
    char word[50];
    char set[50];
    char *allocated = NULL;
    USE(sscanf("12 0x1f 3.5 1e3 word [abc] 077", "%d %li %lf %f %49s [%49[a-c]] %o", &i, &l, &d, &f,
               word, set, &i));
    USE(sscanf("nan inf -0x1.8p3 x", "%lf %lf %lf %ms", &d, &d, &d, &allocated));
    free(allocated);
    USE(strtol("-99999999999999999999", NULL, 10) + strtol("0x7f", NULL, 0) + atoi("12") +
        atol("3"));
    USE(strtoul("777", NULL, 8) + (unsigned long)strtoimax("5", NULL, 10) +
        strtoull("zz", NULL, 36));
    USE(strtod("0x1.921fb54442d18p+1", NULL) + strtod("1e-400", NULL) +
        strtod("123456789012345678901234567890e-10", NULL));
    USE(strtod("2.2250738585072011e-308", NULL) + strtod("nan(123)", NULL) +
        strtod("-infinity", NULL));
    strfromd(out, sizeof out, "%.5f", 2.5);
    strfmon(out, sizeof out, "%n", 1234.5);
    USE(a64l("abc") + (unsigned long)(l64a(12345) != NULL));
    USE(div(7, 2).quot + ldiv(7, 2).rem + lldiv(9, 4).quot + labs(-3) + ffs(8) + ffsl(16));
    srand(1);
    srandom(2);
    srand48(3);
    USE(rand() + random() + lrand48() + drand48() + nrand48((unsigned short[3]){1, 2, 3}));
    psignal(SIGINT, "psignal");
    fclose(null);
}

static void files(void)
{
    char path[] = "/tmp/unwind-libc-XXXXXX";
    char line[300];
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w+");
    for (unsigned i = 0; i < 30; i++) {
        fprintf(file, "line %u of the file\n", i);
    }
    fputs("text", file);
    fputc('c', file);
    putc('d', file);
    fwrite("block", 1, 5, file);
    fflush(file);
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL) {
        USE(strlen(line));
    }
    fseek(file, 5, SEEK_SET);
    USE(fgetc(file) + getc(file) + ungetc('x', file) + ftell(file));
    USE(fread(line, 1, 100, file) + fread(line, 7, 3, file));
    USE(fscanf(file, "%*s %u", &(unsigned){0}));
    fseeko(file, -3, SEEK_END);
    fgetpos(file, &(fpos_t){0});
    char *long_line = NULL;
    size_t size = 0;
    rewind(file);
    USE(getline(&long_line, &size, file) + getdelim(&long_line, &size, 'f', file));
    free(long_line);
    setvbuf(file, NULL, _IONBF, 0);
    USE(fputs("unbuffered", file) + feof(file) + ferror(file) + fileno(file));
    clearerr(file);
    freopen(path, "r", file);
    fclose(file);
    char *memory = NULL;
    file = open_memstream(&memory, &size);
    fprintf(file, "%d %s", 1, "in memory");
    fclose(file);
    file = fmemopen(memory, size, "r");
    USE(fscanf(file, "%d", &(int){0}));
    fclose(file);
    free(memory);
    file = popen("echo hello; exit 3", "r");
    USE(fgets(line, sizeof line, file) != NULL);
    USE(pclose(file) + system("true"));
    struct stat status;
    struct statvfs volume;
    USE(stat(path, &status) + lstat(path, &status) + access(path, R_OK) + statvfs("/", &volume));
    USE(chmod(path, 0600) + truncate(path, 10) + symlink("x", "/nowhere/x") +
        rename("/no", "/where"));
    USE(realpath("/usr/bin/../lib/./", line) != NULL);
    USE(getcwd(line, sizeof line) != NULL);
    USE(mkdir("/nowhere/x", 0700) + readlink("/proc/self/exe", line, sizeof line));
    unlink(path);
    DIR *folder = opendir("/etc");
    for (unsigned i = 0; folder != NULL && i < 5; i++) {
        USE(readdir(folder) != NULL);
    }
    rewinddir(folder);
    closedir(folder);
    struct dirent **names = NULL;
    int count = scandir("/dev", &names, NULL, versionsort);
    while (count > 0) {
        free(names[--count]);
    }
    free(names);
    glob_t found;
    USE(glob("/etc/{pass,gr}*[wdp]", GLOB_BRACE, NULL, &found));
    globfree(&found);
    wordexp_t words;
    USE(wordexp("a ~ $HOME ${HOME:-x} \"q r\" $((1+2*3))", &words, WRDE_NOCMD));
    wordfree(&words);
    USE(fnmatch("*.[ch]", "file.c", 0) + fnmatch("a?b*[!x-z]", "acbd", FNM_PATHNAME));
    char *roots[] = {"/etc/default", NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL, NULL);
    while (tree != NULL && fts_read(tree) != NULL) {
    }
    fts_close(tree);
    perror("perror");
    tmpfile();
    USE(pathconf("/", _PC_NAME_MAX) + sysconf(_SC_NPROCESSORS_ONLN) + sysconf(_SC_PHYS_PAGES) +
        confstr(_CS_PATH, line, 100));
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *where)
{
    USE(path[0] + status->st_mode + (unsigned)type + (unsigned)where->level);
    return where->level > 2;
}

static void data(void)
{
    enum { N = 100 };
    static int numbers_[N];
    static char *big[60];
    for (int i = 0; i < N; i++) {
        numbers_[i] = (i * 7919) % 101;
    }
    qsort(numbers_, N, sizeof *numbers_, compare_ints);
    USE(bsearch(&numbers_[5], numbers_, N, sizeof *numbers_, compare_ints) != NULL);
    void *root = NULL;
    for (int i = 0; i < 40; i++) {
        tsearch(&numbers_[(i * 37) % N], &root, compare_ints);
    }
    for (int i = 0; i < 20; i++) {
        tdelete(&numbers_[(i * 37) % N], &root, compare_ints);
    }
    USE(tfind(&numbers_[74], &root, compare_ints) != NULL);
    tdestroy(root, forget);
    hcreate(30);
    USE(hsearch((ENTRY){"key", "value"}, ENTER) != NULL);
    USE(hsearch((ENTRY){"none", NULL}, FIND) != NULL);
    hdestroy();
    size_t used = 3;
    int list[10] = {1, 2, 3};
    USE(lfind(&numbers_[3], list, &used, sizeof *list, compare_ints) != NULL);
    USE(lsearch(&numbers_[30], list, &used, sizeof *list, compare_ints) != NULL);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 60; i++) {
            big[i] = malloc(i * i * (round + 1) * 17 + 1);
        }
        for (unsigned i = 0; i < 60; i += 2) {
            free(big[i]);
            big[i] = calloc(i + 1, 24);
        }
        for (unsigned i = 0; i < 60; i++) {
            big[i] = realloc(big[i], (i * 531) % 9000 + 1);
        }
        for (unsigned i = 0; i < 60; i++) {
            free(big[59 - i]);
        }
    }
    free(memalign(256, 1000));
    free(aligned_alloc(64, 640));
    free(malloc(1 << 20));
    USE(posix_memalign((void **)&big[0], 4096, 100));
    USE(malloc_usable_size(big[0]) + mallinfo2().arena + (unsigned)malloc_trim(0));
    free(reallocarray(big[0], 10, 10));
    struct obstack stack;
    obstack_init(&stack);
    USE(obstack_printf(&stack, "%d", 5));
    obstack_free(&stack, NULL);
    char *z = NULL;
    size_t z_size = 0;
    argz_create_sep("a:b:c", ':', &z, &z_size);
    argz_add(&z, &z_size, "d");
    USE(argz_count(z, z_size));
    free(z);
    regex_t regex;
    regmatch_t match[5];
    const char *patterns[] = {"^(a|b)+c{1,3}[[:alpha:]]*$", "x.*y\\>", "\\(ab\\)*\\1",
                              "[^a-m]+(foo|bar)?"};
    for (unsigned i = 0; i < 4; i++) {
        if (regcomp(&regex, patterns[i], i == 2 ? 0 : REG_EXTENDED | (i == 3 ? REG_ICASE : 0)) ==
            0) {
            USE(regexec(&regex, "abaccdefg", 5, match, 0) +
                regexec(&regex, "xyzzy nopFOO", 5, match, 0));
            regfree(&regex);
        }
    }
    char message[100];
    USE(regerror(regcomp(&regex, "(", REG_EXTENDED), &regex, message, sizeof message));
    setenv("UNWIND_LIBC", "1", 1);
    putenv("UNWIND_LIBC_2=x");
    USE(getenv("UNWIND_LIBC") != NULL);
    unsetenv("UNWIND_LIBC");
    char *arguments[] = {"program", "-a", "--long=5", "rest", "-b", "x", NULL};
    const struct option long_options[] = {{"long", required_argument, NULL, 'l'},
                                          {NULL, 0, NULL, 0}};
    while (getopt_long(6, arguments, "ab:", long_options, NULL) != -1) {
    }
    void *frames[20];
    char **symbols = backtrace_symbols(frames, backtrace(frames, 20));
    free(symbols);
}

static void system_side(void)
{
    time_t now = 1577934245;
    struct tm parts;
    char text[300];
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    USE(localtime_r(&now, &parts) != NULL);
    USE(gmtime_r(&now, &parts) != NULL);
    USE(strftime(text, sizeof text,
                 "%a %A %b %c %D %e %F %G %H %I %j %k %m %p %r %s %T %U %V %w %x %X %y %z %Z %%",
                 &parts));
    USE(strptime("2020-02-29 12:34:56 Mon Feb", "%Y-%m-%d %H:%M:%S %a %b", &parts) != NULL);
    USE(mktime(&parts) + timegm(&parts) + (time_t)difftime(now, 5));
    USE(asctime(&parts) != NULL);
    USE(ctime(&now) != NULL);
    setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
    tzset();
    USE(localtime(&now)->tm_hour);
    struct timespec moment = {.tv_nsec = 1000};
    USE(clock_getres(CLOCK_MONOTONIC, &moment) + nanosleep(&(struct timespec){.tv_nsec = 1}, NULL) +
        (int)clock());
    USE(setlocale(LC_ALL, "C.UTF-8") != NULL);
    wide();
    USE(setlocale(LC_ALL, "C") != NULL);
    locale_t locale = newlocale(LC_ALL_MASK, "C", NULL);
    USE(uselocale(locale) != NULL);
    USE(uselocale(LC_GLOBAL_LOCALE) != NULL);
    freelocale(locale);
    USE(localeconv() != NULL);
    USE(nl_langinfo(CODESET) != NULL);
    USE(getpwnam("root") != NULL);
    USE(getpwuid(1) != NULL);
    USE(getgrnam("root") != NULL);
    USE(getgrgid(3) != NULL);
    setpwent();
    USE(getpwent() != NULL);
    endpwent();
    gid_t groups[50];
    int count = 50;
    USE(getgrouplist("root", 0, groups, &count) + getgroups(50, groups));
    struct utsname name;
    struct rusage usage;
    struct rlimit limit;
    USE(uname(&name) + gethostname(text, sizeof text) + getrusage(RUSAGE_SELF, &usage) +
        getrlimit(RLIMIT_NOFILE, &limit));
    USE(getpid() + getppid() + getuid() + getgid() + getpgrp() + getpriority(PRIO_PROCESS, 0) +
        nice(0));
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    if (getaddrinfo("127.0.0.1", "80", &hints, &found) == 0) {
        USE(getnameinfo(found->ai_addr, found->ai_addrlen, text, 100, text + 100, 100,
                        NI_NUMERICHOST | NI_NUMERICSERV));
        freeaddrinfo(found);
    }
    if (getaddrinfo("localhost", "http", NULL, &found) == 0) {
        freeaddrinfo(found);
    }
    USE(gai_strerror(EAI_AGAIN) != NULL);
    struct in6_addr address;
    USE(inet_pton(AF_INET6, "2001:db8::1:ffff:1.2.3.4", &address) + (int)inet_addr("1.2.3.4"));
    USE(inet_ntop(AF_INET6, &address, text, sizeof text) != NULL);
    USE(getservbyname("http", "tcp") != NULL);
    USE(getprotobyname("tcp") != NULL);
    struct ifaddrs *interfaces = NULL;
    if (getifaddrs(&interfaces) == 0) {
        freeifaddrs(interfaces);
    }
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    struct iovec part = {"abc", 3};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    USE(sendmsg(pair[0], &packet, 0) + recv(pair[1], text, 2, 0) + read(pair[1], text, 1) +
        writev(pair[0], &part, 1));
    struct pollfd waiting = {.fd = pair[1], .events = POLLIN};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pair[1], &set);
    USE(poll(&waiting, 1, 0) + select(pair[1] + 1, &set, NULL, NULL, &(struct timeval){0}));
    close(pair[0]);
    close(pair[1]);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    USE(sigprocmask(SIG_BLOCK, &signals, NULL) + raise(SIGUSR1) + sigpending(&signals));
    USE(sigtimedwait(&signals, NULL, &moment) + sigismember(&signals, SIGUSR1));
    nftw("/etc/default", visit, 5, FTW_PHYS);
    pid_t child = fork();
    if (child == 0) {
        _exit(3);
    }
    waitpid(child, NULL, 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *thread(void *argument)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void once_only(void)
{
    sink++;
}

static void threads(void)
{
    pthread_t id;
    pthread_attr_t attributes;
    pthread_key_t key;
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    sem_t semaphore;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 18);
    pthread_mutex_lock(&mutex);
    pthread_create(&id, &attributes, thread, NULL);
    pthread_cond_timedwait(&condition, &mutex, &(struct timespec){.tv_sec = 1});
    pthread_mutex_unlock(&mutex);
    pthread_join(id, NULL);
    pthread_once(&once, once_only);
    pthread_key_create(&key, free);
    pthread_setspecific(key, malloc(3));
    USE(pthread_getspecific(key) != NULL);
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
    sem_init(&semaphore, 0, 1);
    USE(sem_wait(&semaphore) + sem_trywait(&semaphore) + sem_post(&semaphore));
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_cond_broadcast(&condition);
    cpu_set_t processors;
    USE(sched_getaffinity(0, sizeof processors, &processors) + sched_yield());
}

int main(void)
{
    strings();
    numbers();
    data();
    files();
    system_side();
    threads();
    printf("%s\n", sink != 0 ? "done" : "nothing");
    return 0;
}
