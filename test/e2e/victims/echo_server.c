/* SPDX-License-Identifier: MIT
 *
 * echo_server.c: echo_server SOCKET THREADS: each thread takes connections from the socket and echoes what comes, 8 bytes at a
 * time, by way of a fresh block of memory and under a lock that all share.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BYTES = 8, THREADS_MAX = 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long served;

static int serve_request(int client)
{
    char *block = malloc(BYTES + served % 1000);
    ssize_t got = recv(client, block, BYTES, MSG_WAITALL);
    if (got == BYTES) {
        pthread_mutex_lock(&lock);
        served++;
        pthread_mutex_unlock(&lock);
        got = send(client, block, BYTES, MSG_NOSIGNAL);
    }
    free(block);
    return got == BYTES;
}

static void *serve(void *listener)
{
    for (;;) {
        int client = accept(*(int *)listener, NULL, NULL);
        if (client < 0) {
            perror("accept");
            exit(1);
        }
        while (serve_request(client)) {
        }
        close(client);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    int threads = argc > 2 ? atoi(argv[2]) : 0;
    strncpy(address.sun_path, argc > 1 ? argv[1] : "", sizeof address.sun_path - 1);
    if (threads < 1 || threads > THREADS_MAX ||
        bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 128) != 0) {
        perror("echo_server");
        exit(2);
    }
    for (int i = 1; i < threads; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, serve, &listener);
    }
    printf("ready\n");
    fflush(stdout);
    serve(&listener);
    return 0;
}
