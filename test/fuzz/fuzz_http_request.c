/* SPDX-License-Identifier: MIT
 *
 * fuzz_http_request.c: any bytes as the head of a request; and the Host in it as a name of the loopback interface.
 *
 * Sources: http/request.c http/address.c http/descriptor.c
 * Seeds: requests of readers of profiles.
 */
#include "../../http/address.h"
#include "../../http/request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, const char *begin, size_t length)
{
    if (text == NULL)
        return;
    if (text < begin || text >= begin + length || strlen(text) >= (size_t)(begin + length - text))
        abort();
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == '\x7f')
            abort();
    }
}

/* A request that is read lies in its head, which ends as a head does. */
static void check(const request_head *r, const char *bytes, const uint8_t *before, long length)
{
    if (length < 4 || memcmp(before + length - 4, "\r\n\r\n", 4) != 0 || *r->method == '\0' ||
        strlen(r->target) > REQUEST_TARGET_MAX || r->body_size > REQUEST_BODY_MAX)
        abort();
    check_text(r->method, bytes, (size_t)length);
    check_text(r->target, bytes, (size_t)length);
    check_text(r->host, bytes, (size_t)length);
    check_text(r->authorization, bytes, (size_t)length);
    if (r->host != NULL)
        address_host_is_loopback(r->host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size); /* exactly as long */
    request_head r;
    if (size > 0)
        memcpy(bytes, data, size);
    long length = request_read(bytes, size, &r);
    if (length > (long)size)
        abort();
    if (length > 0)
        check(&r, bytes, data, length);
    if (length == 0 && memcmp(bytes, data, size) != 0)
        abort();
    free(bytes);
    return 0;
}
