/* SPDX-License-Identifier: MIT
 *
 * http_server.c [ADDRESS]: a server with /debug/pprof/ in it, by one line.
 *
 * The program answers questions by its standard input; its profiles are at ADDRESS (127.0.0.1:0: any free port, which the
 * program prints) as long as it runs. The profiles block and mutex are off until a program turns them on, as in Go; a
 * request may do so for its time: block?seconds=10&rate=1.
 *
 *   cc http_server.c -lpprof-http -lpprof -o http_server && ./http_server 127.0.0.1:6060
 *   go tool pprof http://127.0.0.1:6060/debug/pprof/profile?seconds=5
 */
#include <pprof.h>
#include <pprof_http.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many primes there are below `limit`: what this server is asked. */
static unsigned count_primes(unsigned limit)
{
    char *composite = calloc(limit + 1, 1);
    unsigned count = 0;
    for (unsigned i = 2; composite != NULL && i < limit; i++) {
        count += composite[i] == 0;
        for (unsigned k = 2 * i; k < limit; k += i) {
            composite[k] = 1;
        }
    }
    free(composite);
    return count;
}

int main(int argc, char **argv)
{
    char address[128];
    char line[64];
    int error = pprof_http_serve(argc > 1 ? argv[1] : "127.0.0.1:0");
    if (error != 0 || pprof_http_address(address, sizeof address) != 0) {
        fprintf(stderr, "http_server: no profiles at %s: %s\n", argc > 1 ? argv[1] : "127.0.0.1:0",
                strerror(-error));
        return 1;
    }
    printf("http://%s/debug/pprof/\n", address);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        printf("%u\n", count_primes((unsigned)strtoul(line, NULL, 10)));
        fflush(stdout);
    }
    return pprof_http_stop() == 0 ? 0 : 1;
}
