# cmake -DCPPROF=… -DVERB=… -DVERSION=… -DPAGE=… -P man_page.cmake: writes the manual page of a verb (or of the command,
# if VERB is empty) from what `cpprof help` says. Its lines are kept as they are.

execute_process(COMMAND ${CPPROF} help ${VERB} OUTPUT_VARIABLE text RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "cpprof help ${VERB} ended with ${status}")
endif()
execute_process(COMMAND ${CPPROF} help OUTPUT_VARIABLE overview)

set(name cpprof)
set(what "profile native programs, and read profiles")
if(VERB)
  set(name cpprof-${VERB})
  string(REGEX MATCH "  ${VERB} +([^\n]*)" found "${overview}")
  set(what "${CMAKE_MATCH_1}")
endif()

# The usage ends with the first empty line.
string(FIND "${text}" "\n\n" end)
string(SUBSTRING "${text}" 0 ${end} usage)
string(SUBSTRING "${text}" ${end} -1 rest)
string(REGEX REPLACE "^usage: " "" usage "${usage}")
string(REGEX REPLACE "\n       " "\n" usage "${usage}")
string(REGEX REPLACE "^\n+" "" rest "${rest}")

# A backslash, and a point or an apostrophe at the beginning of a line, mean something to troff; so does a hyphen.
macro(escape variable)
  string(REPLACE "\\" "\\e" ${variable} "${${variable}}")
  string(REPLACE "-" "\\-" ${variable} "${${variable}}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" ${variable} "${${variable}}")
endmacro()
escape(usage)
escape(rest)
escape(what)
string(TOUPPER "${name}" title)

set(others "")
foreach(verb record top merge flame web)
  if(NOT verb STREQUAL VERB)
    string(APPEND others ".BR cpprof\\-${verb} (1),\n")
  endif()
endforeach()
if(VERB)
  string(PREPEND others ".BR cpprof (1),\n")
endif()
string(REPLACE "-" "\\-" dashed "${name}")
file(WRITE ${PAGE} ".TH ${title} 1 \"\" \"libpprof ${VERSION}\" \"User Commands\"
.SH NAME
${dashed} \\- ${what}
.SH SYNOPSIS
.nf
${usage}
.fi
.SH DESCRIPTION
.nf
${rest}.fi
.SH SEE ALSO
${others}.BR libpprof (7),
.BR libpprof (3)
")
