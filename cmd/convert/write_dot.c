/* SPDX-License-Identifier: MIT
 *
 * write_dot.c: a call graph in the language of Graphviz, as `go tool pprof -dot` prints it; see
 * convert.h.
 *
 * Owns: what is drawn, for the length of a call.
 * Tested by: e2e.cpprof_dot.
 */
#include "convert/convert.h"

#include "base/base_name.h"
#include "base/measurement.h"
#include "convert/dot_graph.h"
#include "convert/short_name.h"
#include "profile/profile_model.h"
#include "report/report.h"
#include "report/report_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HELP "\nSee https://git.io/JfYMW for how to read the graph"

typedef struct writer {
    const cp_report *report;
    cp_graph *graph;
    cp_dot_tags tags;
    cp_short_names names;
    uint32_t *ids;   /* per frame: the place in the order, from 1; 0: not in the graph */
    bool *has_boxes; /* per frame: tags hang at it */
    FILE *out;
} writer;

/* ---- text ---- */

/* Quotes and backslashes are escaped, and a new line becomes the end of a left-justified one. */
static void put_escaped(const char *text, size_t length, FILE *out)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n') {
            fputs("\\l", out);
        } else {
            fputs(text[i] == '"' || text[i] == '\\' ? "\\" : "", out);
            fputc(text[i], out);
        }
    }
}

/* Text that has Graphviz' escapes in it: only what would end it is escaped. */
static void put_quoted(const char *text, FILE *out)
{
    for (; *text; text++) {
        fputs(*text == '"' ? "\\" : "", out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void put_frame(const writer *w, uint32_t frame)
{
    const cp_frame *known = &w->report->frames.frames[frame];

    put_escaped(known->label, known->label_length, w->out);
}

/* A name in a box: on several lines, cut at its dots and colons. Go's "[...]" stays. */
static void put_name_lines(const writer *w, const char *name)
{
    char *text = cp_short_name(&w->names, name);

    for (const char *at = text; *at; at++) {
        if (strncmp(at, "::", 2) == 0) {
            fputs("\\n", w->out);
            at++;
        } else if (strncmp(at, "[...]", 5) == 0) {
            fputs("[\u2026]", w->out);
            at += 4;
        } else if (*at == '.') {
            fputs("\\n", w->out);
        } else {
            put_escaped(at, 1, w->out);
        }
    }
    free(text);
}

static void put_place(const writer *w, const cp_frame_key *key)
{
    const char *path = cp_profile_text(w->report->profile, key->file);
    size_t length;
    const char *base = cp_base_name(path, &length);

    fwrite(base, 1, length, w->out);
    if (key->line) {
        fprintf(w->out, ":%" PRId64, key->line);
    }
    if (key->line && key->column) {
        fprintf(w->out, ":%" PRId64, key->column);
    }
    fputs("\\n", w->out);
}

static void put_box_name(const writer *w, const cp_frame *frame)
{
    const cp_frame_key *key = &frame->key;

    if (key->address) {
        fprintf(w->out, "%016" PRIx64 "\\n", key->address);
    }
    if (key->name) {
        put_name_lines(w, cp_profile_text(w->report->profile, key->name));
        fputs("\\n", w->out);
    }
    if (key->line || key->file) {
        put_place(w, key);
    } else if (!key->name) {
        const char *label = frame->label + (key->address ? 17 : 0); /* "[program]" */
        fputs(label, w->out);
        fputs("\\n", w->out);
    }
}

static void put_value(const writer *w, int64_t value)
{
    char *text = cp_report_value(w->report, value);

    fputs(text, w->out);
    free(text);
}

/* "VALUE (PERCENT%)" */
static void put_share(const writer *w, int64_t value)
{
    char percent[CP_PERCENT_BYTES];

    put_value(w, value);
    cp_measure_percent(value, w->report->total, percent);
    fprintf(w->out, " (%s)", percent + strspn(percent, " "));
}

/* ---- colours ---- */

static unsigned char byte_of(double part)
{
    double scaled = part * 255;

    return scaled > 0 && scaled < 256 ? (unsigned char)scaled : 0;
}

/* From green for -1 by way of grey to red for 1; the one of a background is pale. */
static void put_colour(const writer *w, int64_t value, bool background)
{
    static const double shift = 0.7; /* away from grey */
    double score = (double)value / (double)cp_measure_abs(w->report->total);
    double saturation = background ? 0.1 : 1, bright = background ? 0.93 : 0.7;

    score = score > 1 ? 1 : score < -1 ? -1 : score;
    if (fabs(score) < 0.2) {
        saturation *= fabs(score) / 0.2;
    }
    double strength = saturation * pow(fabs(score), 1 - shift);
    double faded = bright * (1 - strength), blue = bright * (1 - saturation);
    fprintf(w->out, "#%02x%02x%02x", byte_of(score < 0 ? faded : bright),
            byte_of(score < 0 ? bright : faded), byte_of(blue));
}

/* ---- nodes ---- */

static int font_size(int64_t flat, double most)
{
    double size = fabs((double)cp_measure_abs(flat));

    return flat && most > 0 && size <= most ? 8 + (int)ceil(16 * sqrt(size / most)) : 8;
}

static void put_node(const writer *w, uint32_t frame, double most)
{
    const cp_node *node = &w->graph->nodes[frame];
    uint32_t id = w->ids[frame];

    fprintf(w->out, "N%" PRIu32 " [label=\"", id);
    put_box_name(w, &w->report->frames.frames[frame]);
    if (node->flat) {
        put_share(w, node->flat);
    } else {
        fputc('0', w->out);
    }
    if (node->cum != node->flat) {
        fputs(node->flat ? "\\n" : " ", w->out);
        fputs("of ", w->out);
        put_share(w, node->cum);
    }
    fprintf(w->out, "\" id=\"node%" PRIu32 "\" fontsize=%d shape=box tooltip=\"", id,
            font_size(node->flat, most));
    put_frame(w, frame);
    fputs(" (", w->out);
    put_value(w, node->cum);
    fputs(")\" color=\"", w->out);
    put_colour(w, node->cum, false);
    fputs("\" fillcolor=\"", w->out);
    put_colour(w, node->cum, true);
    fputs("\"]\n", w->out);
}

/* ---- tags ---- */

/* A small box: a tag, or several numeric ones that are near each other. */
typedef struct box {
    const cp_dot_tag *tag;
    const char *name;
    char *made; /* the name, to be freed */
    int64_t flat, cum;
} box;

typedef struct order {
    bool by_flat;
} order;

static int compare_boxes(const void *left, const void *right, void *context)
{
    const box *a = left, *b = right;
    const order *o = context;
    int64_t x = cp_measure_abs(a->cum), y = cp_measure_abs(b->cum);

    if (!o->by_flat && x != y) {
        return x > y ? -1 : 1;
    }
    x = cp_measure_abs(a->flat);
    y = cp_measure_abs(b->flat);
    if (x != y) {
        return x > y ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

/* Collects the tags of a node: the text labels, or the numbers beside one of these (0: none). */
static uint32_t collect(const writer *w, uint32_t frame, bool numeric, cp_string labels, box *boxes)
{
    const cp_profile *profile = w->report->profile;
    uint32_t count, found = 0;
    const cp_dot_tag *tags = cp_dot_tags_of(&w->tags, frame, &count);

    for (uint32_t i = 0; i < count; i++) {
        if (tags[i].numeric == numeric && (!numeric || tags[i].labels == labels)) {
            const char *name = cp_profile_text(profile, numeric ? tags[i].name : tags[i].labels);
            boxes[found++] =
                (box){.tag = &tags[i], .name = name, .flat = tags[i].flat, .cum = tags[i].cum};
        }
    }
    return found;
}

/* The numbers have one unit, so their distance is that of their values. */
static double distance(const box *left, const box *right)
{
    return fabs((double)left->tag->value - (double)right->tag->value);
}

static uint32_t nearest(const box *boxes, const box *wanted)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < CP_DOT_TAGS; i++) {
        if (distance(wanted, &boxes[i]) < distance(wanted, &boxes[best])) {
            best = i;
        }
    }
    return best;
}

static void add_wrapping(int64_t *sum, int64_t value)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)value);
}

static char *range_name(const char *unit, int64_t least, int64_t most, bool several)
{
    char *first = cp_measure_label(least, unit, "auto");

    if (!several) {
        return first;
    }
    char *last = cp_measure_label(most, unit, "auto");
    char *name = cp_heap_printf("%s..%s", first, last);
    free(first);
    free(last);
    return name;
}

/* Joins the numbers beyond the first ones with the nearest of these. */
static uint32_t collapse(const writer *w, box *boxes, uint32_t count, order *o)
{
    int64_t least[CP_DOT_TAGS], most[CP_DOT_TAGS];
    bool several[CP_DOT_TAGS] = {false};

    qsort_r(boxes, count, sizeof *boxes, compare_boxes, o);
    if (count <= CP_DOT_TAGS) {
        return count;
    }
    for (uint32_t i = 0; i < CP_DOT_TAGS; i++) {
        least[i] = most[i] = boxes[i].tag->value;
    }
    for (uint32_t i = CP_DOT_TAGS; i < count; i++) {
        uint32_t group = nearest(boxes, &boxes[i]);
        int64_t value = boxes[i].tag->value;

        least[group] = value < least[group] ? value : least[group];
        most[group] = value > most[group] ? value : most[group];
        several[group] = true;
        add_wrapping(&boxes[group].flat, boxes[i].flat);
        add_wrapping(&boxes[group].cum, boxes[i].cum);
    }
    for (uint32_t i = 0; i < CP_DOT_TAGS; i++) {
        boxes[i].made = range_name(w->tags.unit, least[i], most[i], several[i]);
        boxes[i].name = boxes[i].made;
    }
    qsort_r(boxes, CP_DOT_TAGS, sizeof *boxes, compare_boxes, o);
    return CP_DOT_TAGS;
}

/* Writes a small box and the edge to it. */
static void put_tag(const writer *w, const char *source, const char *id, const box *tag,
                    int64_t weight, const char *style)
{
    char *value = cp_report_value(w->report, weight);

    fprintf(w->out, "%s [label = \"", id);
    put_quoted(tag->name, w->out);
    fprintf(w->out, "\" id=\"%s\" fontsize=8 shape=box3d tooltip=\"%s\"]\n", id, value);
    fprintf(w->out, "%s -> %s [label=\" %s\" weight=100 tooltip=\"%s\" labeltooltip=\"%s\"%s]\n",
            source, id, value, value, value, style);
    free(value);
}

static bool put_numbers(const writer *w, uint32_t frame, cp_string labels, const char *source,
                        order *o, box *boxes)
{
    uint32_t count = collapse(w, boxes, collect(w, frame, true, labels, boxes), o);
    bool any = false;

    for (uint32_t i = 0; i < count; i++) {
        bool whole = o->by_flat || boxes[i].flat == boxes[i].cum;
        int64_t weight = whole ? boxes[i].flat : boxes[i].cum;

        if (weight) {
            char *id = cp_heap_printf("N%s_%" PRIu32, source, i);
            put_tag(w, source, id, &boxes[i], weight, whole ? "" : " style=\"dotted\"");
            free(id);
            any = true;
        }
        free(boxes[i].made);
    }
    return any;
}

static bool put_labels(const writer *w, uint32_t frame, const char *source, order *o, box *boxes,
                       box *numbers)
{
    uint32_t count = collect(w, frame, false, 0, boxes);
    bool any = false;

    qsort_r(boxes, count, sizeof *boxes, compare_boxes, o);
    for (uint32_t i = 0; i < count && i < CP_DOT_TAGS; i++) {
        int64_t weight = o->by_flat ? boxes[i].flat : boxes[i].cum;

        if (!weight) {
            continue;
        }
        char *id = cp_heap_printf("%s_%" PRIu32, source, i);
        put_tag(w, source, id, &boxes[i], weight, "");
        put_numbers(w, frame, boxes[i].tag->labels, id, o, numbers);
        free(id);
        any = true;
    }
    return any;
}

static bool has_callees(const writer *w, uint32_t frame)
{
    for (uint32_t i = w->graph->nodes[frame].first_out; i != CP_NO_EDGE;
         i = w->graph->edges[i].next_out) {
        if (!w->graph->edges[i].cut) {
            return true;
        }
    }
    return false;
}

/* A leaf has all tags of its samples; other nodes only those of samples that end there. */
static void put_tags(const writer *w, uint32_t frame)
{
    uint32_t count;
    order o = {.by_flat = has_callees(w, frame)};

    cp_dot_tags_of(&w->tags, frame, &count);
    if (!count) {
        return;
    }
    char *source = cp_heap_printf("N%" PRIu32, w->ids[frame]);
    box *boxes = cp_heap_alloc(count, sizeof *boxes),
        *numbers = cp_heap_alloc(count, sizeof *boxes);
    bool labels = put_labels(w, frame, source, &o, boxes, numbers);
    bool bare = put_numbers(w, frame, 0, source, &o, numbers);
    w->has_boxes[frame] = labels || bare;
    free(numbers);
    free(boxes);
    free(source);
}

/* ---- edges ---- */

/* The share of the total in `steps`, from 0. */
static int64_t steps_of(const writer *w, int64_t weight, int64_t steps)
{
    double part = (double)(int64_t)((uint64_t)weight * (uint64_t)steps) / (double)w->report->total;
    int64_t whole = cp_measure_abs(cp_measure_truncate(part));

    return whole < steps ? whole : steps;
}

static void put_tooltip(const writer *w, const cp_edge *edge)
{
    fputc('"', w->out);
    put_frame(w, edge->src);
    fputs(edge->residual ? " ... " : " -> ", w->out);
    put_frame(w, edge->dest);
    fputs(" (", w->out);
    put_value(w, edge->weight);
    fputs(")\"", w->out);
}

static void put_edge(const writer *w, const cp_edge *edge)
{
    fprintf(w->out, "N%" PRIu32 " -> N%" PRIu32 " [label=\" ", w->ids[edge->src],
            w->ids[edge->dest]);
    put_value(w, edge->weight);
    fputs(edge->inlined ? "\\n (inline)\"" : "\"", w->out);
    if (w->report->total) {
        int64_t weight = 1 + steps_of(w, edge->weight, 100),
                width = 1 + steps_of(w, edge->weight, 5);
        if (weight > 1) {
            fprintf(w->out, " weight=%" PRId64, weight);
        }
        if (width > 1) {
            fprintf(w->out, " penwidth=%" PRId64, width);
        }
        fputs(" color=\"", w->out);
        put_colour(w, edge->weight, false);
        fputc('"', w->out);
    }
    fputs(" tooltip=", w->out);
    put_tooltip(w, edge);
    fputs(" labeltooltip=", w->out);
    put_tooltip(w, edge);
    fputs(edge->residual ? " style=\"dotted\"" : "", w->out);
    fputs(w->has_boxes[edge->src] ? " minlen=2" : "", w->out);
    fputs("]\n", w->out);
}

static void put_edges(writer *w)
{
    const cp_edge **edges = cp_heap_alloc(w->graph->edge_count, sizeof(const cp_edge *));
    uint32_t count = 0;

    for (uint32_t i = 0; i < w->graph->edge_count; i++) {
        const cp_edge *edge = &w->graph->edges[i];
        if (!edge->cut && w->ids[edge->src]) {
            edges[count++] = edge;
        }
    }
    qsort_r(edges, count, sizeof(cp_edge *), cp_dot_compare_edges, w->graph);
    for (uint32_t i = 0; i < count; i++) {
        put_edge(w, edges[i]);
    }
    free(edges);
}

/* ---- the file ---- */

/* A box with what the reports print above their tables. Its name is the first line. */
static void put_legend(const writer *w, const char *title, size_t title_length)
{
    char *text = NULL;
    size_t length;
    FILE *legend = open_memstream(&text, &length);

    cp_report_print_profile(w->report, legend);
    cp_report_print_summary(w->report, legend);
    fputs(HELP, legend);
    fclose(legend);
    fputs("subgraph cluster_L { \"", w->out);
    put_escaped(text, strcspn(text, "\n"), w->out);
    fputs("\" [shape=box fontsize=16 label=\"", w->out);
    put_escaped(text, length, w->out);
    fputs("\\l\"", w->out);
    if (title_length) {
        fputs(" tooltip=\"", w->out);
        put_escaped(title, title_length, w->out);
        fputc('"', w->out);
    }
    fputs("] }\n", w->out);
    free(text);
}

static void put_start(const writer *w)
{
    const cp_profile *profile = w->report->profile;
    size_t length = 0;
    const char *title = "";

    if (profile->mapping_count) {
        title = cp_base_name(cp_profile_text(profile, profile->mappings[0].file), &length);
    }
    fputs("digraph \"", w->out);
    put_escaped(length ? title : "unnamed", length ? length : strlen("unnamed"), w->out);
    fputs("\" {\nnode [style=filled fillcolor=\"#f8f8f8\"]\n", w->out);
    put_legend(w, title, length);
}

static void put_nodes(writer *w)
{
    const cp_graph *graph = w->graph;
    double most = 0;

    for (uint32_t i = 0; i < graph->count; i++) {
        w->ids[graph->order[i]] = i + 1;
        most = fmax(most, (double)cp_measure_abs(graph->nodes[graph->order[i]].flat));
    }
    for (uint32_t i = 0; i < graph->count; i++) {
        put_node(w, graph->order[i], most);
        put_tags(w, graph->order[i]);
    }
}

void cp_convert_dot(cp_report *report, FILE *out)
{
    writer w = {.report = report, .graph = &report->graph, .out = out};

    cp_dot_choose(report, &w.tags);
    cp_short_names_init(&w.names, report->options->style == CP_STYLE_GO_1_26);
    w.ids = cp_heap_alloc(report->frames.count, sizeof *w.ids);
    w.has_boxes = cp_heap_alloc(report->frames.count, sizeof *w.has_boxes);
    put_start(&w);
    put_nodes(&w);
    put_edges(&w);
    fputs("}\n", out);
    free(w.ids);
    free(w.has_boxes);
    cp_short_names_release(&w.names);
    cp_dot_tags_release(&w.tags);
}
