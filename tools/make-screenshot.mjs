#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// tools/make-screenshot.mjs [OUT.png]: makes docs/page.png, the picture of README.md: records perl at work for several
// libraries, opens the page of `cpprof flame` in a headless Chromium, and chooses a function in it.
//
// Needs the build (BUILD names another folder than build/release), perl, and Chromium (CHROMIUM).

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Chromium } from '../test/page/chromium.mjs';

const source = join(dirname(fileURLToPath(import.meta.url)), '..');
const cpprof = join(process.env.BUILD || join(source, 'build/release'), 'bin/cpprof');
const out = process.argv[2] || join(source, 'docs/page.png');

/** Counts words, sorts, packs and signs them. */
const program = `
use strict;
use warnings;
use Compress::Zlib;
use Digest::SHA 'sha256_hex';
use Storable qw(freeze thaw);

my ($seed, $digest, %count) = (1, '');
sub word {
    $seed = ($seed * 1103515245 + 12345) & 0x7fffffff;
    return substr 'perlcountswordsandsortsthemthenpacksandsignsthem', $seed >> 16 & 31, 3 + ($seed >> 21 & 7);
}
for (1 .. 15) {
    my $text = join ' ', map { word() . word() } 1 .. 6_000;
    $count{lc $_}++ for split /\\W+/, $text;
    my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
    my $copy = thaw(uncompress(compress(freeze(\\%count))));
    $digest = sha256_hex(join ' ', $digest, map { "$_ $copy->{$_}" } @top);
}
print "$digest\\n";
`;

const work = mkdtempSync(join(tmpdir(), 'screenshot-'));
const browser = new Chromium();
try {
  const profile = join(work, 'perl.pb.gz'), page = join(work, 'perl.html');
  writeFileSync(join(work, 'words.pl'), program);
  execFileSync(cpprof, ['record', '-F', '1000', '-o', profile, '--', 'perl', join(work, 'words.pl')], { stdio: 'pipe' });
  execFileSync(cpprof, ['flame', '-o', page, profile]);
  const view = await browser.page({ width: 1280, height: 600 });
  if (await view.open(`file://${page}#view=both&selected=Perl_hv_common`) !== 'yes') {
    throw new Error(`the page does not show its profile: ${view.errors.join('; ')}`);
  }
  await view.settle();
  await view.screenshot(out);
} finally {
  await browser.close();
  rmSync(work, { recursive: true });
}
