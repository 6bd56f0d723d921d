# pprof_for_old_glibc(TARGET): lets a library that is built with a new glibc run with glibc 2.26, too.
#
# The linker writes into a library which version of each function it has found. In 2.34 the functions of libpthread and
# libdl moved to libc and got new versions, so a library from there does not load with an older glibc. So the linker
# finds stubs first: libraries with the names and versions of 2.26, as the linker of that time found them. New glibcs keep
# both, the libraries as empty ones. What 2.26 lacks has no version in the stubs: the library refers to it weakly, by its
# name alone, and does without where nothing has it. test/tools/test_glibc_versions.sh looks at the outcome.
#
# libpthread.so.0 and libdl.so.2 are then loaded into each program, as by every library of that time with a thread.

# NAME@VERSION, as on x86-64. On aarch64 the versions begin with 2.17. The names without a version are libc's, of which the
# linker takes no second library: they may be in any one that libpprof.so needs.
set(PPROF_OF_LIBPTHREAD pthread_attr_getstack@2.2.5 pthread_attr_getstacksize@2.2.5 pthread_attr_setstacksize@2.2.5 pthread_create@2.2.5
  pthread_getattr_default_np@2.18 pthread_key_create@2.2.5 pthread_setname_np@2.12 pthread_setspecific@2.2.5
  pthread_testcancel@2.2.5 pthread_tryjoin_np@2.3.3)
set(PPROF_OF_LIBDL dladdr@2.2.5 dladdr1@2.3.3 dlerror@2.2.5 dlopen@2.2.5 dlsym@2.2.5 dlvsym@2.2.5
  __libc_single_threaded _dl_find_object strerrordesc_np _sys_errlist)

# stub(TARGET SONAME NAMES...): builds a library with these names.
function(stub target soname)
  set(code "")
  set(nodes "")
  foreach(item IN LISTS ARGN)
    string(REGEX REPLACE "@.*" "" name ${item})
    string(APPEND code ".globl ${name}\n.type ${name}, %function\n${name}:\n")
    if(item MATCHES "@(.*)")
      set(version ${CMAKE_MATCH_1})
      if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64" AND version VERSION_LESS 2.17)
        set(version 2.17)
      endif()
      list(APPEND nodes ${version})
      list(APPEND names_of_${version} ${name})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES nodes)
  set(map "")
  foreach(version IN LISTS nodes)
    list(JOIN names_of_${version} "; " names)
    string(APPEND map "GLIBC_${version} { ${names}; };\n")
  endforeach()

  set(folder ${CMAKE_BINARY_DIR}/old_glibc)
  file(CONFIGURE OUTPUT ${folder}/${target}.S CONTENT "${code}.section .note.GNU-stack,\"\",%progbits\n" @ONLY)
  add_library(${target} SHARED ${folder}/${target}.S)
  set_target_properties(${target} PROPERTIES NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${folder} LINKER_LANGUAGE C)
  target_link_options(${target} PRIVATE -nostdlib -Wl,-soname,${soname})
  file(CONFIGURE OUTPUT ${folder}/${target}.map CONTENT "${map}" @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${folder}/${target}.map)
endfunction()

if(PPROF_GLIBC)
  stub(old_libpthread libpthread.so.0 ${PPROF_OF_LIBPTHREAD})
  stub(old_libdl libdl.so.2 ${PPROF_OF_LIBDL})
endif()

# The stubs are files to the linker, not libraries to CMake: no search path at run time leads to them.
function(pprof_for_old_glibc target)
  if(PPROF_GLIBC)
    set(stubs $<TARGET_FILE:old_libpthread> $<TARGET_FILE:old_libdl>)
    list(JOIN stubs "," files)
    target_link_libraries(${target} PRIVATE "-Wl,--push-state,--as-needed,${files},--pop-state")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${stubs})
    add_dependencies(${target} old_libpthread old_libdl)
    if(NOT target STREQUAL "pprof") # which makes its own system calls
      target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/old_file_status.c)
    endif()
  endif()
endfunction()
