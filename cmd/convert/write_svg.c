/* SPDX-License-Identifier: MIT
 *
 * write_svg.c: a flame graph as a picture; see convert.h.
 *
 * The file has no script and needs no other file. Each frame is a group: its title, which a browser
 * shows under the pointer; a rectangle; and the name, cut to fit.
 *
 * Owns: what is drawn, for the length of a call.
 * Tested by: e2e.cpprof_svg.
 */
#include "convert/convert.h"

#include "base/base_name.h"
#include "base/measurement.h"
#include "base/message.h"
#include "convert/flame_colours.h"
#include "convert/flame_tree.h"
#include "profile/profile_model.h"
#include "report/report.h"
#include "src/base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* As in cmd/page/svg_export.mjs; the widths are for 11 pixels of Verdana. */
#define ROW       18
#define MARGIN    10
#define HEAD      34
#define COLUMN    6.6
#define NARROWEST 0.0004 /* as a part of the picture */

/* More than anybody can look at. It also limits the size of the file, together with TITLE. */
#define MOST_FRAMES 100000u
#define TITLE       600 /* columns */

typedef struct box {
    uint32_t node, row;
    double x; /* from 0 to 1 */
} box;

typedef struct picture {
    const cp_report *report;
    cp_flame_tree tree;
    cp_flame_colours colours;
    box *boxes; /* one row after the other */
    uint32_t count, rows;
    size_t room;
    unsigned key_rows;
    FILE *out;
    double width, height, scale;
    bool upwards;
} picture;

/* ---- text ---- */

static bool is_xml(const char *at, size_t bytes)
{
    unsigned char first = (unsigned char)*at;

    if (bytes == 1) {
        return first >= ' ' && first != 0x7f;
    }
    return bytes > 0 &&
           !(bytes == 3 && memcmp(at, "\xef\xbf\xbe", 2) == 0 && (unsigned char)at[2] >= 0xbe);
}

static void put_character(const char *at, size_t bytes, FILE *out)
{
    if (!is_xml(at, bytes)) {
        fputs(PP_UTF8_REPLACEMENT, out);
    } else if (bytes == 1 && strchr("&<>\"'", *at)) {
        fprintf(out, "&#%d;", *at);
    } else {
        fwrite_unlocked(at, 1, bytes, out);
    }
}

/* The columns of a character: from U+1100 on, most are as wide as two. */
static unsigned columns_of(const char *at, size_t bytes)
{
    return bytes > 2 && (unsigned char)*at >= 0xe1 ? 2 : 1;
}

/* The bytes of the text that fit into that many columns. *whole becomes whether all do. */
static size_t fitting(const char *text, size_t length, size_t columns, bool *whole)
{
    size_t used = 0, at = 0, last = 0; /* last: with room for the sign that something is cut */

    while (at < length) {
        size_t bytes = pp_utf8_length(text + at, length - at);
        used += columns_of(text + at, bytes);
        if (used > columns) {
            *whole = false;
            return last;
        }
        at += bytes ? bytes : 1;
        last = used < columns ? at : last;
    }
    *whole = true;
    return length;
}

static void put_text(const char *text, size_t length, size_t columns, FILE *out)
{
    bool whole;
    size_t shown = fitting(text, length, columns, &whole);

    for (size_t at = 0; at < shown;) {
        size_t bytes = pp_utf8_length(text + at, length - at);
        put_character(text + at, bytes, out);
        at += bytes ? bytes : 1;
    }
    if (!whole) {
        fputs("\u2026", out);
    }
}

/* ---- layout ---- */

static void add_box(picture *p, uint32_t node, uint32_t row, double x)
{
    p->boxes = cp_heap_grow(p->boxes, p->count, &p->room, sizeof *p->boxes);
    p->boxes[p->count++] = (box){node, row, x};
    p->rows = row + 1;
}

static void lay_out(picture *p)
{
    const cp_flame_node *nodes = p->tree.nodes;
    uint32_t *children = cp_heap_alloc(p->tree.count, sizeof *children);
    double total = nodes[0].width ? (double)nodes[0].width : 1;

    add_box(p, 0, 0, 0);
    for (uint32_t i = 0; i < p->count && p->count < MOST_FRAMES; i++) {
        box parent = p->boxes[i];
        uint32_t count = cp_flame_children(&p->tree, parent.node, children);
        double x = parent.x;

        for (uint32_t j = 0; j < count; j++) {
            double width = (double)nodes[children[j]].width / total;
            if (width < NARROWEST) {
                break; /* the widest come first */
            }
            add_box(p, children[j], parent.row + 1, x);
            x += width;
        }
    }
    free(children);
}

/* ---- drawing ---- */

static void put_label(const picture *p, uint32_t node, size_t columns)
{
    uint32_t frame = p->tree.nodes[node].frame;
    const cp_frame *frames = p->report->frames.frames;

    if (node == 0) {
        put_text("all", strlen("all"), columns, p->out);
    } else if (frame == p->report->frames.count) {
        put_text("[deeper frames]", strlen("[deeper frames]"), columns, p->out);
    } else {
        put_text(frames[frame].label, frames[frame].label_length, columns, p->out);
    }
}

static void put_cost(const picture *p, int64_t value)
{
    char percent[CP_PERCENT_BYTES];
    char *text = cp_report_value(p->report, value);

    cp_measure_percent(value, p->report->total, percent);
    put_text(text, strlen(text), TITLE, p->out);
    fprintf(p->out, " (%s)", percent + strspn(percent, " "));
    free(text);
}

static void put_fill(cp_flame_colour colour, FILE *out)
{
    fprintf(out, "fill=\"#%02x%02x%02x\"", colour.red, colour.green, colour.blue);
}

static void put_box(const picture *p, const box *drawn)
{
    const cp_flame_node *node = &p->tree.nodes[drawn->node];
    double x = MARGIN + drawn->x * p->scale;
    double width = p->tree.nodes[0].width
                       ? (double)node->width / (double)p->tree.nodes[0].width * p->scale
                       : p->scale;
    uint32_t row = p->upwards ? p->rows - 1 - drawn->row : drawn->row;
    double y = HEAD + (double)row * ROW;
    double columns = (width - 6) / COLUMN;

    fputs("<g><title>", p->out);
    put_label(p, drawn->node, TITLE);
    fputs(": ", p->out);
    put_cost(p, node->width);
    fprintf(p->out, "</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" ", x, y,
            width - 0.5 > 0.3 ? width - 0.5 : 0.3, ROW - 1);
    put_fill(p->colours.fills[node->frame], p->out);
    fputs("/>", p->out);
    if (columns >= 3) {
        fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y + 12.5);
        put_label(p, drawn->node, (size_t)columns);
        fputs("</text>", p->out);
    }
    fputs("</g>\n", p->out);
}

/* ---- the key ---- */

static size_t key_columns(const cp_flame_group *group)
{
    enum { MOST = 40 };

    return group->length == 0 ? strlen("other") : group->length < MOST ? group->length : MOST;
}

/* Goes through the groups that have hues of their own, and draws them if there is an `out`. Returns
 * the number of rows. */
static unsigned put_key(const picture *p, double y, FILE *out)
{
    double x = MARGIN;
    unsigned rows = 1;

    for (uint32_t i = 0; i < p->colours.group_count && i < CP_FLAME_HUES; i++) {
        const cp_flame_group *group = &p->colours.groups[i];
        double width = 20 + (double)key_columns(group) * COLUMN + 14;

        if (group->area <= 0) {
            break;
        }
        if (x > MARGIN && x + width > p->width - MARGIN) {
            x = MARGIN;
            rows++;
        }
        if (out) {
            double top = y + (rows - 1) * ROW;
            fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" ", x, top + 2);
            put_fill(cp_flame_group_colour(&p->colours, i), out);
            fprintf(out, "/><text x=\"%.1f\" y=\"%.1f\">", x + 17, top + 12);
            put_text(group->length ? group->name : "other", group->length ? group->length : 5,
                     key_columns(group), out);
            fputs("</text>\n", out);
        }
        x += width;
    }
    return rows;
}

/* ---- the file ---- */

static void put_heading(const picture *p)
{
    const cp_profile *profile = p->report->profile;
    char *total = cp_report_value(p->report, p->tree.nodes[0].width);
    size_t length = 0, columns = (size_t)((p->width - 2 * MARGIN) / (COLUMN * 14 / 11));
    const char *program = "";

    if (profile->mapping_count) {
        program = cp_base_name(cp_profile_text(profile, profile->mappings[0].file), &length);
    }
    char *title = cp_heap_printf("%.*s%s%s: %s", (int)length, program, length ? ", " : "",
                                 p->report->sample_type, total);
    fprintf(p->out, "<text x=\"%d\" y=\"22\" font-size=\"14\">", MARGIN);
    put_text(title, strlen(title), columns, p->out);
    fputs("</text>\n", p->out);
    free(title);
    free(total);
}

static void draw(const picture *p)
{
    fprintf(p->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"Verdana, DejaVu Sans, sans-serif\" "
            "font-size=\"11\" fill=\"#15181d\">\n"
            "<style>g:hover rect { stroke: #15181d }</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            p->width, p->height, p->width, p->height);
    put_heading(p);
    for (uint32_t i = 0; i < p->count; i++) {
        put_box(p, &p->boxes[i]);
    }
    put_key(p, p->height - MARGIN - (double)p->key_rows * ROW, p->out);
    fputs("</svg>\n", p->out);
}

static void measure(picture *p)
{
    p->width = p->report->options->width ? (double)p->report->options->width : CP_SVG_WIDTH;
    p->scale = p->width - 2 * MARGIN;
    p->upwards = p->report->options->root_at_bottom;
    p->key_rows = put_key(p, 0, NULL);
    p->height = HEAD + (double)p->rows * ROW + MARGIN + (double)p->key_rows * ROW + MARGIN;
}

void cp_convert_svg(const cp_report *report, FILE *out)
{
    picture p = {.report = report, .out = out};
    cp_stack_sums sums;

    cp_stack_sums_init(&sums, report);
    cp_stack_sums_warn(&sums, report->value_index);
    cp_flame_tree_init(&p.tree, &sums, report->value_index, report->frames.count);
    cp_flame_colours_init(&p.colours, report, &p.tree);
    cp_stack_sums_release(&sums);
    lay_out(&p);
    if (p.count >= MOST_FRAMES) {
        cp_complain("warning: only %" PRIu32 " frames are drawn, those nearest to the root",
                    p.count);
    }
    measure(&p);
    draw(&p);
    free(p.boxes);
    cp_flame_colours_release(&p.colours);
    cp_flame_tree_release(&p.tree);
}
