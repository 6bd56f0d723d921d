#compdef cpprof
# cpprof.zsh: what completes in zsh. The build puts the tables of verbs and options in the place of the next line:
# @tables@
#   _cpprof_verbs   NAME:SUMMARY of each verb
#   _cpprof_VERB    its options, for _arguments

# The processes that can be asked.
_cpprof_processes() {
    local -a processes
    processes=("${(@f)$(cpprof ps --brief 2>/dev/null)}")
    processes=("${(@)processes/$'\t'/:}")
    _describe process processes "$@"
}

# FILE: also pid:NUMBER/NAME.
_cpprof_sources() {
    if compset -P 'pid:[0-9]##/'; then
        _wanted profiles expl profile compadd profile heap allocs block mutex thread wall
    elif compset -P pid:; then
        _cpprof_processes -S ''
    else
        _files
    fi
}

_cpprof() {
    local state verb
    local -a line specs
    _arguments -C '--help[list the verbs]' '--version[print the version]' '1: :->verb' '*:: :->rest' && return
    case $state in
    verb) _describe verb _cpprof_verbs ;;
    rest)
        verb=$words[1]
        specs=("${(@P)${:-_cpprof_$verb}}")
        case $verb in
        record) _arguments -S -s $specs '--help[explain it]' '(-)1:command:_command_names -e' '*::argument:_normal' ;;
        help) _arguments -s $specs '1:verb:(${_cpprof_verbs%%:*})' ;;
        list | peek) _arguments -s $specs '--help[explain it]' '1:expression: ' '*:profile:_cpprof_sources' ;;
        configure) _arguments -s $specs '--help[explain it]' '1:process:_cpprof_processes' '2:options: ' ;;
        *) _arguments -s $specs '--help[explain it]' '*:profile:_cpprof_sources' ;;
        esac
        ;;
    esac
}

_cpprof "$@"
