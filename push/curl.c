/* SPDX-License-Identifier: MIT
 *
 * curl.c: see curl.h.
 *
 * Tested by: e2e.push, e2e.push_trouble
 */
#include "push/curl.h"

#include "push/token.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The numbers of libcurl's interface never change. */
enum {
    OPTION_POST = 47,
    OPTION_HTTP_VERSION = 84,
    OPTION_BUFFER_SIZE = 98,
    OPTION_NO_SIGNAL = 99,
    OPTION_HTTP_AUTH = 107,
    OPTION_TIMEOUT_MS = 155,
    OPTION_CONNECT_TIMEOUT_MS = 156,
    OPTION_PROTOCOLS = 181,
    OPTION_UPLOAD_BUFFER_SIZE = 280,
    OPTION_WRITE_DATA = 10001,
    OPTION_URL = 10002,
    OPTION_PROXY = 10004,
    OPTION_ERROR_BUFFER = 10010,
    OPTION_POST_FIELDS = 10015,
    OPTION_USER_AGENT = 10018,
    OPTION_HEADERS = 10023,
    OPTION_CA_FILE = 10065,
    OPTION_CA_FOLDER = 10097,
    OPTION_RESOLVE = 10203,
    OPTION_BEARER = 10220,
    OPTION_WRITE_FUNCTION = 20011,
    OPTION_POST_SIZE = 30120,
    INFO_CONTENT_TYPE = 0x100012,
    INFO_CA_FOLDER = 0x10003e, /* since 7.84 */
    INFO_RESPONSE_CODE = 0x200002,
    INFO_RETRY_AFTER = 0x600039,
    AUTH_BEARER = 1 << 6,
    HTTP_1_1 = 2,
    PROTOCOLS_HTTP = 3, /* http and https */
    GLOBAL_ALL = 3,
    MESSAGE_DONE = 1,
    NOT_TRUSTED = 60,
    ERROR_BUFFER_BYTES = 256
};

enum {
    CONNECT_TIMEOUT_MS = 10000,
    TIMEOUT_MS = 30000,
    BUFFER_BYTES = 16384, /* the least that libcurl takes for uploads: bodies are small */
    ADDRESSES = 4,
    NO_MEMORY_MS = 100,    /* between two attempts to begin */
    SEGMENTS = 128,        /* libcurl has some 20 libraries */
    NO_ATEXIT = 0x00080000 /* OPENSSL_INIT_NO_ATEXIT */
};

static const uint64_t ns_per_ms = 1000000;
static const uint64_t addresses_are_fresh_ns = 60000000000u;
/* Less than an interval, and so long that an agent of many processes does not do it all the time. */
static const uint64_t pages_stay_ns = 10000000000u;

typedef struct curl_message {
    int message;
    void *easy;
    union {
        void *data;
        int result;
    } is;
} curl_message;

typedef struct curl_calls {
    int (*global_init)(long flags);
    bool has_openssl;
    void *(*easy_init)(void);
    int (*easy_setopt)(void *easy, int option, ...);
    int (*easy_getinfo)(void *easy, int info, ...);
    const char *(*easy_strerror)(int code);
    void (*easy_cleanup)(void *easy);
    void *(*list_append)(void *list, const char *text);
    void (*list_free)(void *list);
    void *(*multi_init)(void);
    int (*multi_add)(void *multi, void *easy);
    int (*multi_remove)(void *multi, void *easy);
    int (*multi_perform)(void *multi, int *running);
    int (*multi_poll)(void *multi, void *extra, unsigned count, int timeout_ms, int *ready);
    int (*multi_wakeup)(void *multi);
    curl_message *(*multi_read)(void *multi, int *left);
    int (*multi_cleanup)(void *multi);
} curl_calls;

typedef struct curl_state {
    curl_calls call;
    char *token_file, *token, *tenant, *ca_file; /* NULL: none */
    push_target target;
    void (*waits)(bool begins); /* or NULL */
    pthread_mutex_t lock;       /* for `multi`, which another thread may wake */
    void *multi, *easy;         /* NULL: parked */
    void *headers;              /* of the request under way, or NULL */
    void *addresses; /* those of the server, as libcurl wants them; NULL: it needs none */
    uint64_t addresses_ns;
    uint64_t forgotten_ns; /* when the pages were */
    bool is_under_way;
    bool is_woken;
    bool has_sent;      /* since then */
    bool wants_bundle;  /* the certificates of the system's folder do not do */
    bool has_ca_folder; /* of certificates, for this handle */
    push_answer kept;
    size_t reason_length;
    char error[ERROR_BUFFER_BYTES];
} curl_state;

/* ---- the library ---- */

static bool find_calls(void *library, curl_calls *call)
{
    const struct {
        void *place;
        const char *name;
    } wanted[] = {{&call->global_init, "curl_global_init"},
                  {&call->easy_init, "curl_easy_init"},
                  {&call->easy_setopt, "curl_easy_setopt"},
                  {&call->easy_getinfo, "curl_easy_getinfo"},
                  {&call->easy_strerror, "curl_easy_strerror"},
                  {&call->easy_cleanup, "curl_easy_cleanup"},
                  {&call->list_append, "curl_slist_append"},
                  {&call->list_free, "curl_slist_free_all"},
                  {&call->multi_init, "curl_multi_init"},
                  {&call->multi_add, "curl_multi_add_handle"},
                  {&call->multi_remove, "curl_multi_remove_handle"},
                  {&call->multi_perform, "curl_multi_perform"},
                  {&call->multi_poll, "curl_multi_poll"},
                  {&call->multi_wakeup, "curl_multi_wakeup"},
                  {&call->multi_read, "curl_multi_info_read"},
                  {&call->multi_cleanup, "curl_multi_cleanup"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(library, wanted[i].name);
        if (found == NULL) {
            return false;
        }
        memcpy(wanted[i].place, &found, sizeof found);
    }
    return true;
}

typedef struct loaded_objects {
    unsigned seen, before;
} loaded_objects;

static int count_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)info;
    (void)size;
    ++*(unsigned *)context;
    return 0;
}

/* Segments without relocations, of the objects that were loaded for us: they stay, since libcurl does. */
typedef struct segment {
    uintptr_t begin, end;
} segment;

static struct {
    segment list[SEGMENTS];
    unsigned count;
} segments;

/* The loader appends what it loads. */
static int add_segments(struct dl_phdr_info *info, size_t size, void *context)
{
    loaded_objects *objects = context;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)size;
    if (objects->seen++ < objects->before) {
        return 0;
    }
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr;
        const segment pages = {begin & ~(page - 1), (begin + header->p_filesz) & ~(page - 1)};
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W) == 0 && pages.end > pages.begin &&
            segments.count < SEGMENTS) {
            segments.list[segments.count++] = pages;
        }
    }
    return 0;
}

/* Whether all pages are those of the file: nobody has set a breakpoint, or has changed code otherwise. */
static bool is_unchanged(int pagemap, const segment *s)
{
    enum { PAGES = 256 };
    static const uint64_t is_there = UINT64_C(1) << 63;
    static const uint64_t is_of_file = UINT64_C(1) << 61;
    uint64_t pages[PAGES];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bool is = true;
    for (size_t i = s->begin / page; i < s->end / page && is; i += PAGES) {
        size_t count = s->end / page - i < PAGES ? s->end / page - i : PAGES;
        is = pread(pagemap, pages, count * sizeof *pages, (off_t)(i * sizeof *pages)) ==
             (ssize_t)(count * sizeof *pages);
        for (size_t k = 0; k < count && is; k++) {
            is = (pages[k] & is_there) == 0 || (pages[k] & is_of_file) != 0;
        }
    }
    return is;
}

/* Loading reads all symbol tables, and a request takes code that is not used before the next one. The program's
 * memory need not hold it meanwhile. */
static void forget_pages(void)
{
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (unsigned i = 0; i < segments.count && pagemap >= 0; i++) {
        const segment *s = &segments.list[i];
        if (is_unchanged(pagemap, s)) {
            madvise((void *)s->begin, s->end - s->begin, MADV_DONTNEED);
        }
    }
    if (pagemap >= 0) {
        close(pagemap);
    }
}

/* OpenSSL would tear itself down in a handler of exit(), while a request may be under way on another
 * thread. Whoever initialises it first decides. */
static void keep_openssl(void *library)
{
    int (*init)(uint64_t options, const void *settings) = NULL;
    void *found = dlsym(library, "OPENSSL_init_crypto");
    memcpy(&init, &found, sizeof found);
    if (init != NULL) {
        init(NO_ATEXIT, NULL);
    }
}

/* The child of a fork must not ask the loader again. */
static int load(curl_calls *call, char why[PUSH_WHY_BYTES])
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    static curl_calls loaded;
    void *library = NULL;
    if (loaded.multi_cleanup != NULL) {
        *call = loaded;
        return 0;
    }
    loaded_objects objects = {0, 0};
    dl_iterate_phdr(count_object, &objects.before);
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    if (library == NULL) {
        snprintf(why, PUSH_WHY_BYTES, "expected libcurl, found none; install libcurl4");
        return -ENOENT;
    }
    if (!find_calls(library, call)) {
        snprintf(why, PUSH_WHY_BYTES, "expected libcurl 7.68 or later, found an older one");
        return -ENOSYS;
    }
    keep_openssl(library);
    call->has_openssl = dlsym(library, "SSL_CTX_new") != NULL;
    if (call->global_init(GLOBAL_ALL) != 0) {
        snprintf(why, PUSH_WHY_BYTES, "libcurl has no memory");
        return -ENOMEM;
    }
    loaded = *call;
    dl_iterate_phdr(add_segments, &objects);
    forget_pages();
    return 0;
}

/* ---- addresses ---- */

static uint64_t now_ns(void *context)
{
    struct timespec t;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool is_numeric(const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* "+HOST:PORT:ADDRESS,[ADDRESS]"; the plus has libcurl forget it as it forgets others. */
static void set_addresses(curl_state *c, const struct addrinfo *found)
{
    char text[sizeof c->target.host + sizeof c->target.port +
              (size_t)ADDRESSES * (INET6_ADDRSTRLEN + 3)];
    int length = snprintf(text, sizeof text, "+%s:%s:", c->target.host, c->target.port);
    char separator = '\0';
    for (int i = 0; found != NULL && i < ADDRESSES; found = found->ai_next, i++) {
        char address[INET6_ADDRSTRLEN] = "";
        getnameinfo(found->ai_addr, found->ai_addrlen, address, sizeof address, NULL, 0,
                    NI_NUMERICHOST);
        bool is_long = found->ai_family == AF_INET6;
        length += snprintf(text + length, sizeof text - (size_t)length, "%.1s%s%s%s", &separator,
                           is_long ? "[" : "", address, is_long ? "]" : "");
        separator = ',';
    }
    if (c->addresses != NULL) {
        c->call.list_free(c->addresses);
    }
    c->addresses = c->call.list_append(NULL, text);
    c->addresses_ns = now_ns(NULL);
}

/* 0, or -EHOSTUNREACH with the reason in the answer. */
static int look_up(curl_state *c, push_answer *answer)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    bool is_fresh = c->addresses != NULL && now_ns(NULL) - c->addresses_ns < addresses_are_fresh_ns;
    if (is_fresh || is_numeric(c->target.host)) {
        return 0;
    }
    int error = getaddrinfo(c->target.host, c->target.port, &hints, &found);
    if (error != 0) {
        snprintf(answer->reason, sizeof answer->reason, "%.200s: %.40s", c->target.host,
                 gai_strerror(error));
        return -EHOSTUNREACH;
    }
    set_addresses(c, found);
    freeaddrinfo(found);
    return 0;
}

/* ---- one request ---- */

/* Keeps the first words of the answer, for messages. */
static size_t take_body(const char *data, size_t size, size_t count, void *context)
{
    curl_state *c = context;
    char *reason = c->kept.reason;
    for (size_t i = 0; i < size * count && c->reason_length + 1 < sizeof c->kept.reason; i++) {
        bool is_shown = data[i] >= ' ' && data[i] < '\x7f';
        reason[c->reason_length++] = (char)(is_shown ? data[i] : ' ');
        reason[c->reason_length] = '\0';
    }
    return size * count;
}

static void add_header(curl_state *c, const char *name, const char *value)
{
    char text[512];
    int length = snprintf(text, sizeof text, "%s: %s", name, value);
    void *longer = length < (int)sizeof text ? c->call.list_append(c->headers, text) : NULL;
    c->headers = longer != NULL ? longer : c->headers;
}

/* 0, or -errno with the reason in the answer. */
static int set_token(curl_state *c, push_answer *answer)
{
    char token[PUSH_TOKEN_BYTES];
    const char *shown = c->token;
    int error = 0;
    if (c->token_file != NULL) {
        error = push_token_read(c->token_file, token);
        shown = token;
    }
    if (error != 0) {
        snprintf(answer->reason, sizeof answer->reason, "the token in %.150s: %.60s", c->token_file,
                 error == -EINVAL ? "expected one word in the first line" : strerror(-error));
    } else if (shown != NULL) {
        c->call.easy_setopt(c->easy, OPTION_HTTP_AUTH, (long)AUTH_BEARER);
        error = c->call.easy_setopt(c->easy, OPTION_BEARER, shown) != 0 ? -ENOMEM : 0;
    }
    push_token_wipe(token);
    return error;
}

static int begin(curl_state *c, const push_request *request, push_answer *answer)
{
    char url[PUSH_URL_BYTES + 512];
    const curl_calls *call = &c->call;
    int error = look_up(c, answer);
    error = error == 0 ? set_token(c, answer) : error;
    if (error != 0) {
        return error;
    }
    snprintf(url, sizeof url, "%s%s", c->target.url, request->path);
    add_header(c, "Content-Type", request->content_type);
    add_header(c, "Expect", "");
    if (c->tenant != NULL) {
        add_header(c, "X-Scope-OrgID", c->tenant);
    }
    c->kept = (push_answer){.status = 0};
    c->reason_length = 0;
    c->error[0] = '\0';
    call->easy_setopt(c->easy, OPTION_URL, url);
    call->easy_setopt(c->easy, OPTION_RESOLVE, c->addresses);
    call->easy_setopt(c->easy, OPTION_HEADERS, c->headers);
    call->easy_setopt(c->easy, OPTION_POST, 1L);
    call->easy_setopt(c->easy, OPTION_POST_SIZE, (int64_t)request->size);
    call->easy_setopt(c->easy, OPTION_POST_FIELDS, request->body);
    c->has_sent = true;
    c->is_under_way = call->multi_add(c->multi, c->easy) == 0;
    return c->is_under_way ? 0 : -ENOMEM;
}

static void read_answer(curl_state *c, int result)
{
    push_answer *a = &c->kept;
    long status = 0;
    int64_t retry_after_s = 0;
    const char *type = NULL;
    if (result != 0) {
        snprintf(a->reason, sizeof a->reason, "%.200s",
                 c->error[0] != '\0' ? c->error : c->call.easy_strerror(result));
        return;
    }
    c->call.easy_getinfo(c->easy, INFO_RESPONSE_CODE, &status);
    c->call.easy_getinfo(c->easy, INFO_CONTENT_TYPE, &type);
    c->call.easy_getinfo(c->easy, INFO_RETRY_AFTER, &retry_after_s);
    a->status = (int)status;
    a->retry_after_s = retry_after_s;
    snprintf(a->content_type, sizeof a->content_type, "%s", type != NULL ? type : "");
}

static void end(curl_state *c)
{
    if (c->is_under_way) {
        c->call.multi_remove(c->multi, c->easy);
    }
    if (c->headers != NULL) {
        c->call.easy_setopt(c->easy, OPTION_HEADERS, NULL);
        c->call.list_free(c->headers);
    }
    c->headers = NULL;
    c->is_under_way = false;
}

/* ---- handles ---- */

/* Whether the folder has certificates under the hashes of their subjects. */
static bool is_hashed(const char *path)
{
    enum { HASH = 8 };
    DIR *folder = opendir(path);
    const struct dirent *found = NULL;
    bool is = false;
    while (folder != NULL && !is && (found = readdir(folder)) != NULL) {
        is = strspn(found->d_name, "0123456789abcdef") == HASH &&
             strcmp(found->d_name + HASH, ".0") == 0;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return is;
}

/* OpenSSL reads only those certificates of a folder that it needs. All of the system's, in one file, are 2 MB of
 * memory of the program. */
static void trust_system(curl_state *c)
{
    const char *path = NULL;
    if (c->call.has_openssl && !c->wants_bundle) {
        c->call.easy_getinfo(c->easy, INFO_CA_FOLDER, &path);
    }
    c->has_ca_folder = path != NULL && is_hashed(path) &&
                       c->call.easy_setopt(c->easy, OPTION_CA_FOLDER, path) == 0;
    if (c->has_ca_folder) {
        c->call.easy_setopt(c->easy, OPTION_CA_FILE, NULL);
    }
}

static void set_for_all(curl_state *c)
{
    const curl_calls *call = &c->call;
    call->easy_setopt(c->easy, OPTION_NO_SIGNAL, 1L);
    call->easy_setopt(c->easy, OPTION_HTTP_VERSION, (long)HTTP_1_1);
    call->easy_setopt(c->easy, OPTION_PROTOCOLS, (long)PROTOCOLS_HTTP);
    call->easy_setopt(c->easy, OPTION_TIMEOUT_MS, (long)TIMEOUT_MS);
    call->easy_setopt(c->easy, OPTION_CONNECT_TIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    call->easy_setopt(c->easy, OPTION_BUFFER_SIZE, (long)BUFFER_BYTES);
    call->easy_setopt(c->easy, OPTION_UPLOAD_BUFFER_SIZE, (long)BUFFER_BYTES);
    call->easy_setopt(c->easy, OPTION_USER_AGENT, "libpprof-push");
    call->easy_setopt(c->easy, OPTION_ERROR_BUFFER, c->error);
    call->easy_setopt(c->easy, OPTION_WRITE_FUNCTION, take_body);
    call->easy_setopt(c->easy, OPTION_WRITE_DATA, c);
    call->easy_setopt(c->easy, OPTION_PROXY, ""); /* that of the environment is not meant for us */
    if (c->ca_file != NULL) {
        call->easy_setopt(c->easy, OPTION_CA_FILE, c->ca_file);
    } else if (strncmp(c->target.url, "https:", 6) == 0) {
        trust_system(c);
    }
}

static void *exchange_multi(curl_state *c, void *multi)
{
    pthread_mutex_lock(&c->lock);
    void *before = c->multi;
    c->multi = multi;
    pthread_mutex_unlock(&c->lock);
    return before;
}

/* False: there is no memory. */
static bool is_ready(curl_state *c)
{
    if (c->multi != NULL) {
        return true;
    }
    void *multi = c->call.multi_init();
    c->easy = multi != NULL ? c->call.easy_init() : NULL;
    if (c->easy == NULL) {
        if (multi != NULL) {
            c->call.multi_cleanup(multi);
        }
        return false;
    }
    set_for_all(c);
    exchange_multi(c, multi);
    return true;
}

static void drop_handles(curl_state *c)
{
    end(c);
    c->call.easy_cleanup(c->easy);
    c->call.multi_cleanup(exchange_multi(c, NULL));
    c->easy = NULL;
}

/* ---- an exchange ---- */

/* True: the answer is there. */
static bool go_on(curl_state *c)
{
    int running = 0;
    int left = 0;
    c->call.multi_perform(c->multi, &running);
    const curl_message *m = c->call.multi_read(c->multi, &left);
    if (m == NULL || m->message != MESSAGE_DONE) {
        return false;
    }
    c->wants_bundle |= m->is.result == NOT_TRUSTED && c->has_ca_folder;
    read_answer(c, m->is.result);
    return true;
}

static bool was_woken(curl_state *c)
{
    return __atomic_exchange_n(&c->is_woken, false, __ATOMIC_ACQ_REL);
}

/* libcurl returns earlier where it has a timer of its own. */
static void poll_until(curl_state *c, uint64_t until_ns)
{
    uint64_t now = now_ns(NULL);
    uint64_t left_ms = until_ns > now ? (until_ns - now + ns_per_ms - 1) / ns_per_ms : 0;
    if (c->waits != NULL) {
        c->waits(true);
    }
    c->call.multi_poll(c->multi, NULL, 0, left_ms < 3600000 ? (int)left_ms : 3600000, NULL);
    if (c->waits != NULL) {
        c->waits(false);
    }
}

static int exchange(void *context, const push_request *request, push_answer *answer,
                    uint64_t until_ns)
{
    curl_state *c = context;
    *answer = (push_answer){.status = 0};
    if (!is_ready(c)) {
        snprintf(answer->reason, sizeof answer->reason, "libcurl has no memory");
        return 0;
    }
    int error = c->is_under_way ? 0 : begin(c, request, answer);
    if (error != 0) {
        end(c);
        return 0; /* the reason is in the answer */
    }
    while (!go_on(c)) {
        if (was_woken(c) || now_ns(NULL) >= until_ns) {
            return -EAGAIN;
        }
        poll_until(c, until_ns);
    }
    if (c->wants_bundle && c->has_ca_folder) { /* once more */
        drop_handles(c);
        return exchange(context, request, answer, until_ns);
    }
    *answer = c->kept;
    end(c);
    return 0;
}

/* Nothing is under way. */
static void wait_until(void *context, uint64_t until_ns)
{
    curl_state *c = context;
    uint64_t now = now_ns(NULL);
    if (c->has_sent && now - c->forgotten_ns >= pages_stay_ns) {
        forget_pages();
        c->forgotten_ns = now;
        c->has_sent = false;
    }
    while (!was_woken(c) && now_ns(NULL) < until_ns) {
        if (is_ready(c)) {
            poll_until(c, until_ns);
        } else {
            poll(NULL, 0, NO_MEMORY_MS);
        }
    }
}

static void wake(void *context)
{
    curl_state *c = context;
    __atomic_store_n(&c->is_woken, true, __ATOMIC_RELEASE);
    pthread_mutex_lock(&c->lock);
    if (c->multi != NULL) {
        c->call.multi_wakeup(c->multi);
    }
    pthread_mutex_unlock(&c->lock);
}

static uint64_t chance(void *context)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
        number = now_ns(context) * 0x9e3779b97f4a7c15;
    }
    return number;
}

/* ---- life ---- */

static void park(void *context)
{
    curl_state *c = context;
    if (c->multi != NULL) {
        drop_handles(c);
    }
}

static void close_all(void *context)
{
    curl_state *c = context;
    park(c);
    if (c->addresses != NULL) {
        c->call.list_free(c->addresses);
    }
    if (c->token != NULL) {
        explicit_bzero(c->token, strlen(c->token));
    }
    free(c->token);
    free(c->token_file);
    free(c->tenant);
    free(c->ca_file);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static bool copy(const char *text, char **to)
{
    *to = text != NULL ? strdup(text) : NULL;
    return *to != NULL || text == NULL;
}

int push_curl_open(const push_settings *settings, const push_target *target,
                   push_transport *transport, char why[PUSH_WHY_BYTES])
{
    curl_state *c = calloc(1, sizeof *c);
    int error = c != NULL ? load(&c->call, why) : -ENOMEM;
    if (error != 0) {
        free(c);
        return error;
    }
    pthread_mutex_init(&c->lock, NULL);
    c->target = *target;
    c->waits = settings->waits;
    if (!copy(settings->token_file, &c->token_file) || !copy(settings->token, &c->token) ||
        !copy(settings->tenant, &c->tenant) || !copy(settings->ca_file, &c->ca_file)) {
        close_all(c);
        snprintf(why, PUSH_WHY_BYTES, "no memory");
        return -ENOMEM;
    }
    *transport = (push_transport){.exchange = exchange,
                                  .wait = wait_until,
                                  .wake = wake,
                                  .park = park,
                                  .close = close_all,
                                  .now_ns = now_ns,
                                  .chance = chance,
                                  .context = c};
    return 0;
}
