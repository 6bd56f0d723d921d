# shellcheck shell=bash disable=SC2154 # the tables
# cpprof.bash: what completes in bash. The build puts the tables of verbs and options in the place of the next line:
# @tables@
#   _cpprof_verbs          the verbs
#   _cpprof_options[VERB]  its options
#   _cpprof_values[VERB:OPTION]  the values of an option; empty if nobody can know them, / for files, @ for processes, not
#                                set if it has none

# _cpprof_words WORDS: those of them that the current word begins; after a comma, another one.
_cpprof_words() {
    local list=
    [[ $word != *,* ]] || list=${word%,*},
    mapfile -t COMPREPLY < <(compgen -P "$list" -W "$1" -- "${word##*,}")
}

# After `record ... --`: another command. Returns 1 if there is none yet.
_cpprof_command() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -- ]] || continue
        if declare -F _command_offset >/dev/null; then
            _command_offset $((i + 1))
        elif ((COMP_CWORD == i + 1)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        return 0
    done
    return 1
}

# Whether the current word is the expression, which comes before the files: no operand is before it.
_cpprof_expression() {
    local i
    [[ $verb == list || $verb == peek ]] || return 1
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ -n ${_cpprof_values[$verb:${COMP_WORDS[i]}]+set} ]]; then
            [[ ${COMP_WORDS[i + 1]} != = ]] || ((i++))
            ((i++))
        elif [[ ${COMP_WORDS[i]} != -* ]]; then
            return 1
        fi
    done
}

# The processes that can be asked, which are few: the word is a number that has begun.
_cpprof_processes() {
    _cpprof_words "$("${COMP_WORDS[0]}" ps --brief 2>/dev/null | cut -f1)"
}

# pid:NUMBER/NAME. bash takes pid, : and the rest for three words, unless the user has told it not to; then pid: stays in front.
# Returns 1 if the word is something else.
_cpprof_source() {
    local front='' number=$word
    if [[ $word == pid:* ]]; then
        front=pid: number=${word#pid:}
    elif [[ $word == : && $before == pid ]]; then
        number=
    elif [[ $before != : || ${COMP_WORDS[COMP_CWORD - 2]} != pid ]]; then
        return 1
    fi
    word=$number
    if [[ $number == */* ]]; then
        word=${number#*/}
        front+=${number%%/*}/
        _cpprof_words "profile heap allocs block mutex thread wall"
    else
        compopt -o nospace 2>/dev/null # a NAME may follow
        _cpprof_processes
    fi
    COMPREPLY=("${COMPREPLY[@]/#/$front}")
}

_cpprof() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
    COMPREPLY=()
    # bash takes --name=value for three words.
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD == 1)); then
        _cpprof_words "$_cpprof_verbs"
    elif [[ $verb == record ]] && _cpprof_command; then
        return
    elif [[ ${_cpprof_values[$verb:$before]} == / ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    elif [[ ${_cpprof_values[$verb:$before]} == @ ]]; then
        _cpprof_processes
    elif [[ -n ${_cpprof_values[$verb:$before]+set} ]]; then
        _cpprof_words "${_cpprof_values[$verb:$before]}"
    elif [[ $word == -* ]]; then
        _cpprof_words "${_cpprof_options[$verb]}"
    elif [[ $verb == help ]]; then
        _cpprof_words "$_cpprof_verbs"
    elif [[ $verb == configure ]]; then
        ((COMP_CWORD > 2)) || _cpprof_processes
    elif _cpprof_source; then
        return
    elif ! _cpprof_expression; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -o filenames -F _cpprof cpprof
