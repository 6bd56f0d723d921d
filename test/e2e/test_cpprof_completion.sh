#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_completion.sh: verbs, options, their values and files are completed in bash, and in zsh and fish where they are
# installed.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need bash
scripts=$BUILD/manual

: >profile.pb.gz

# Each line: the words so far, the last one unfinished; after the | what completes it.
cat >cases <<'END'
cpprof rec|record
cpprof top --gran|--granularity
cpprof top --demangle temp|templates
cpprof top --focus prof|
cpprof top prof|profile.pb.gz
cpprof flame --base prof|profile.pb.gz
cpprof list prof|
cpprof list --focus prof|
cpprof list --base prof|profile.pb.gz
cpprof list find prof|profile.pb.gz
cpprof peek --json find prof|profile.pb.gz
cpprof record --engine pe|perf
cpprof record -- cpprof-tes|cpprof-tester
cpprof record -- cpprof-tester prof|profile.pb.gz
cpprof help mer|merge
cpprof top -p 12|1234
cpprof record --pid 12|1234
cpprof configure 12|1234
END
# In bash the part after the colon is a word of its own.
cat >sources <<'END'
cpprof top pid:12|pid:1234
cpprof flame pid:1234/he|pid:1234/heap
cpprof diff profile.pb.gz pid:1234/mu|pid:1234/mutex
END
mkdir bin
printf '#!/bin/sh\n[ "$*" != "ps --brief" ] || printf "1234\\tserver --at=here:80 (a) {b}\\n5678\\tother\\n"\n' >bin/cpprof
chmod +x bin/cpprof
printf '#!/bin/sh\n' >bin/cpprof-tester
chmod +x bin/cpprof-tester
PATH=$work/bin:$PATH

cat cases sources >cases_and_sources

# ---- bash ----

cat >complete.bash <<'END'
. "$1/cpprof.bash"
while IFS='|' read -r line expected; do
    read -ra COMP_WORDS <<<"$line"
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _cpprof
    [[ ${COMPREPLY[*]} == "$expected" ]] || echo "bash: '$line' becomes '${COMPREPLY[*]}', expected '$expected'"
done <cases
while IFS='|' read -r line expected; do
    read -ra COMP_WORDS <<<"$line"
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _cpprof
    [[ ${COMPREPLY[*]} == "$expected" ]] || echo "bash, colons in words: '$line' becomes '${COMPREPLY[*]}', expected '$expected'"
    read -ra COMP_WORDS <<<"${line/pid:/pid : }"
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _cpprof
    [[ pid:${COMPREPLY[*]} == "$expected" ]] || echo "bash: '$line' becomes '${COMPREPLY[*]}', expected '$expected' without pid:"
done <sources
COMP_WORDS=(cpprof top pid :) COMP_CWORD=3
_cpprof
[[ ${COMPREPLY[*]} == '1234 5678' ]] || echo "bash: pid: becomes '${COMPREPLY[*]}'"
COMP_WORDS=(cpprof top --demangle = te) COMP_CWORD=4
_cpprof
[[ ${COMPREPLY[*]} == templates ]] || echo "bash: --demangle=te becomes '${COMPREPLY[*]}'"
COMP_WORDS=(cpprof list --focus x prof) COMP_CWORD=4
_cpprof
[[ -z ${COMPREPLY[*]} ]] || echo "bash: list --focus x prof becomes '${COMPREPLY[*]}'"
COMP_WORDS=(cpprof list --focus = x find prof) COMP_CWORD=6
_cpprof
[[ ${COMPREPLY[*]} == profile.pb.gz ]] || echo "bash: list --focus=x find prof becomes '${COMPREPLY[*]}'"
COMP_WORDS=(cpprof record -e cpu,he) COMP_CWORD=3
_cpprof
[[ ${COMPREPLY[*]} == cpu,heap ]] || echo "bash: -e cpu,he becomes '${COMPREPLY[*]}'"
END
expect_equal "complaints" "" "$(bash complete.bash "$scripts" 2>&1)"

# ---- fish ----

if command -v fish >/dev/null; then
    cat >complete.fish <<'END'
source $argv[1]/cpprof.fish
while read -d '|' line expected
    set -l found (complete -C "$line" | string replace -r '\t.*' '')
    test "$found" = "$expected"; or echo "fish: '$line' becomes '$found', expected '$expected'"
end <cases_and_sources
END
    expect_equal "complaints" "" "$(HOME=$work fish --no-config complete.fish "$scripts" 2>&1)"
fi

# ---- zsh ----

# zsh completes on a terminal only: another zsh types into one.
if command -v zsh >/dev/null; then
    mkdir functions
    cp "$scripts/cpprof.zsh" functions/_cpprof
    cat >complete.zsh <<'END'
zmodload zsh/zpty
zpty shell "TERM=dumb HOME=$PWD zsh -f -i"
zpty -w shell "PS1= fpath=($PWD/functions \$fpath); autoload -Uz compinit && compinit -u -D; unsetopt zle_bracketed_paste"
zpty -w shell "say() { print -r -- \"<\$BUFFER>\"; BUFFER=; zle accept-line }; zle -N say; bindkey '^X' say; print rea''dy"
zpty -r shell text '*ready*'
while IFS='|' read -r line expected; do
    [[ -n $expected ]] || continue
    zpty -n -w shell "$line"$'\t\x18'
    zpty -r shell text '*<cpprof*>*'
    found=${${text##*<}%%>*}
    [[ ${found% } == ${line% *}\ $expected ]] || echo "zsh: '$line' becomes '$found', expected '$expected'"
done <cases_and_sources
zpty -d shell
END
    expect_equal "complaints" "" "$(timeout 100 zsh -f complete.zsh 2>&1)"
fi
echo ok
