/* SPDX-License-Identifier: MIT
 *
 * live_state.c: see live_state.h.
 */
#include "live/live_state.h"

#include "live/live_keys.h"
#include "live/live_views.h"

#include <string.h>

const char cp_live_help[] =
    "c            sort by flat (the function itself) or cum (with callees)\n"
    "t, T, arrows the next profile, the one before; 1 to 7: one of them\n"
    "             cpu, heap in use, allocations, block, mutex, threads, wall\n"
    "a            since cpprof began, or the last interval only\n"
    "/ or f       only stacks with a function that matches; empty: all\n"
    "space        pause; what happens meanwhile is in the next table\n"
    "+ -          a longer or a shorter interval\n"
    "up down      scroll; also Page Up and Page Down, Home and End\n"
    "Ctrl-L       draw the screen again\n"
    "q or Ctrl-C  quit\n"
    "\n"
    "Any key ends this help.\n";

/* ---- intervals ---- */

static const int64_t intervals_ms[] = {100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000};

enum { INTERVALS = sizeof intervals_ms / sizeof *intervals_ms };

static void lengthen(cp_live_state *state)
{
    for (size_t i = 0; i < INTERVALS; i++) {
        if (intervals_ms[i] * 1000000 > state->interval_ns) {
            state->interval_ns = intervals_ms[i] * 1000000;
            return;
        }
    }
}

static void shorten(cp_live_state *state)
{
    for (size_t i = INTERVALS; i > 0; i--) {
        if (intervals_ms[i - 1] * 1000000 < state->interval_ns) {
            state->interval_ns = intervals_ms[i - 1] * 1000000;
            return;
        }
    }
}

/* ---- rows ---- */

void cp_live_limit_rows(cp_live_state *state)
{
    size_t last = state->row_count > state->room ? state->row_count - state->room : 0;

    if (state->first_row > last) {
        state->first_row = last;
    }
}

static unsigned scroll(cp_live_state *state, int key)
{
    size_t page = state->room > 1 ? state->room - 1 : 1;
    size_t up = key == CP_KEY_UP || key == 'k' ? 1 : key == CP_KEY_PAGE_UP ? page : 0;
    size_t down = key == CP_KEY_DOWN || key == 'j' ? 1 : key == CP_KEY_PAGE_DOWN ? page : 0;

    if (key == CP_KEY_HOME || up > state->first_row) {
        state->first_row = 0;
    } else {
        state->first_row = key == CP_KEY_END ? state->row_count : state->first_row + down - up;
    }
    cp_live_limit_rows(state);
    return CP_LIVE_DRAW;
}

/* ---- typing ---- */

static void append(char text[CP_LIVE_TEXT_BYTES], char byte)
{
    size_t length = strlen(text);

    if (length + 1 < CP_LIVE_TEXT_BYTES) {
        text[length] = byte;
        text[length + 1] = '\0';
    }
}

/* Takes the last character off, of however many bytes. */
static void erase(char *text)
{
    size_t length = strlen(text);

    while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80) {
        length--;
    }
    text[length > 0 ? length - 1 : 0] = '\0';
}

static unsigned type(cp_live_state *state, int key)
{
    enum { CTRL_U = 21 };

    if (key == CP_KEY_ENTER) {
        memcpy(state->focus, state->typed, sizeof state->focus);
        state->is_typing = false;
        state->first_row = 0;
        return CP_LIVE_TABLE | CP_LIVE_DRAW;
    }
    if (key == CP_KEY_ESCAPE) {
        state->is_typing = false;
    } else if (key == CP_KEY_ERASE) {
        erase(state->typed);
    } else if (key == CTRL_U) {
        state->typed[0] = '\0';
    } else if (key >= ' ' && key < 256) {
        append(state->typed, (char)key);
    }
    return CP_LIVE_DRAW;
}

static unsigned begin_typing(cp_live_state *state)
{
    state->is_typing = true;
    memcpy(state->typed, state->focus, sizeof state->typed);
    return CP_LIVE_DRAW;
}

/* ---- keys ---- */

/* What the view has shown before is shown at once, and what is new as soon as it comes. */
static unsigned look_at(cp_live_state *state, size_t view)
{
    state->view = view;
    state->first_row = 0;
    return CP_LIVE_TABLE | CP_LIVE_ASK | CP_LIVE_DRAW;
}

static unsigned turn(bool *flag, unsigned needs)
{
    *flag = !*flag;
    return needs | CP_LIVE_DRAW;
}

/* The keys that choose what is shown. */
static unsigned choose(cp_live_state *state, int key)
{
    switch (key) {
    case 'c':
        return turn(&state->by_cum, CP_LIVE_TABLE);
    case 'a':
        return turn(&state->since_start, CP_LIVE_TABLE);
    case 't':
    case '\t':
    case CP_KEY_RIGHT:
        return look_at(state, (state->view + 1) % CP_LIVE_VIEWS);
    case 'T':
    case CP_KEY_LEFT:
        return look_at(state, (state->view + CP_LIVE_VIEWS - 1) % CP_LIVE_VIEWS);
    case 'f':
    case '/':
        return begin_typing(state);
    default:
        return key >= '1' && key < '1' + CP_LIVE_VIEWS ? look_at(state, (size_t)(key - '1')) : 0;
    }
}

/* The other keys. */
static unsigned steer(cp_live_state *state, int key)
{
    enum { CTRL_C = 3, CTRL_D = 4, CTRL_L = 12 };

    switch (key) {
    case 'q':
    case 'Q':
    case CTRL_C:
    case CTRL_D:
        state->quits = true;
        return 0;
    case 'h':
    case '?':
        return turn(&state->shows_help, 0);
    case ' ':
        return turn(&state->is_paused, CP_LIVE_TABLE | (state->is_paused ? CP_LIVE_ASK : 0));
    case '+':
    case '=':
        lengthen(state);
        return CP_LIVE_TABLE | CP_LIVE_DRAW;
    case '-':
    case '_':
        shorten(state);
        return CP_LIVE_TABLE | CP_LIVE_DRAW;
    case CTRL_L:
        return CP_LIVE_DRAW | CP_LIVE_CLEAR;
    default:
        return scroll(state, key);
    }
}

unsigned cp_live_press(cp_live_state *state, int key)
{
    if (key == CP_KEY_NONE) {
        return 0;
    }
    if (state->is_typing) {
        return type(state, key);
    }
    if (state->shows_help && key != 'q' && key != 'Q') {
        return turn(&state->shows_help, 0);
    }
    unsigned needs = choose(state, key);
    return needs ? needs : steer(state, key);
}
