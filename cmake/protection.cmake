# pprof_protection(TARGET): builds a target for processes whose jumps and returns the processor checks (x86: CET, that is
# IBT and shadow stacks; aarch64: BTI and pointer authentication), whatever the builder's flags are. A program loses this
# protection by one library without it.
# pprof_says_protected(TARGET): makes the file of a library say so. C's start files do not everywhere, and their _init may
# begin without endbr64; it does nothing in a library, so a name that does not exist takes its place. On aarch64 the linker
# says so if the start files and libgcc are fit for BTI, too: the loader would have the processor check also their code.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
check_c_compiler_flag(-fcf-protection=full PPROF_HAS_PROTECTION)
check_c_compiler_flag(-mbranch-protection=standard PPROF_HAS_BRANCH_PROTECTION)
if(PPROF_HAS_PROTECTION)
  check_linker_flag(C -Wl,-z,ibt,-z,shstk,-init=pp_no_init,-fini=pp_no_fini PPROF_SAYS_PROTECTED)
endif()

function(pprof_protection target)
  if(PPROF_HAS_PROTECTION)
    target_compile_options(${target} PRIVATE -fcf-protection=full)
  endif()
  if(PPROF_HAS_BRANCH_PROTECTION)
    target_compile_options(${target} PRIVATE -mbranch-protection=standard)
  endif()
endfunction()

function(pprof_says_protected target)
  if(PPROF_SAYS_PROTECTED)
    target_link_options(${target} PRIVATE -Wl,-z,ibt,-z,shstk,-init=pp_no_init,-fini=pp_no_fini)
  endif()
endfunction()
