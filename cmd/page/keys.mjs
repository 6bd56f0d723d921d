// SPDX-License-Identifier: MIT
//
// keys.mjs: the keys of the page, for the dialog that lists them.

/** @type {[string, [string, string][]][]} */
export const KEYS = [
  ['Everywhere', [
    ['1 … 7', 'flame graph, table, sandwich, graph, source, labels; flame graph and table side by side'],
    ['/', 'search by regular expression; Enter goes to the first match'],
    ['n  N', 'next and previous match'],
    ['t', 'next sample type'],
    ['f  x', 'only samples with the selected function; only those without'],
    ['m', 'merge the selected function into its callers'],
    ['C', 'collapse what the selected function calls'],
    ['R', 'collapse its recursion'],
    ['F', 'focus on it: all stacks begin there'],
    ['u', 'undo the last of these'],
    ['s  g  l', 'the selected function in the sandwich, the graph, its source'],
    ['c', 'copy the selected stack'],
    ['d', 'dark, light, or as the system has it'],
    ['p  v', 'save the profile, save the flame graph as SVG'],
    ['?', 'this list'],
  ]],
  ['Flame graph', [
    ['arrows', 'caller, callee, neighbours'],
    ['Enter', 'zoom to the selected frame'],
    ['Esc  0', 'show everything'],
    ['Backspace', 'zoom out by one frame'],
    ['+  −  Shift+arrows', 'zoom, pan'],
    ['i', 'root at the top or at the bottom'],
    ['r', 'top down or bottom up'],
    ['Mouse', 'click zooms, drag pans, wheel scrolls, Ctrl+wheel zooms, Shift+wheel pans; in the overview, click and drag move'],
  ]],
  ['Table, sandwich', [
    ['arrows  j  k', 'next and previous function'],
    ['o', 'next column to sort by; the other half of the sandwich'],
    ['Enter', 'open the sandwich'],
  ]],
];
