# The list of what an installed libpprof consists of and needs, in SPDX 2.3: share/libpprof/libpprof.spdx.json. Versions are those
# of the headers that it is built with.

# header_version(VARIABLE FOLDER FILE NAME...): the values of these macros, with dots between them.
function(header_version variable folder file)
  set(numbers "")
  foreach(name IN LISTS ARGN)
    set(line "")
    if(EXISTS ${folder}/${file})
      file(STRINGS ${folder}/${file} line LIMIT_COUNT 1 REGEX "^#[ \t]*define[ \t]+${name}[ \t]")
    endif()
    string(REGEX REPLACE "^#[ \t]*define[ \t]+${name}[ \t]+\"?([^\" \t]*)\"?.*$" "\\1" number "${line}")
    list(APPEND numbers "${number}")
  endforeach()
  list(JOIN numbers "." version)
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()

set(PPROF_SBOM_PACKAGES "")
set(PPROF_SBOM_RELATIONSHIPS "")

# A package, whose version may be unknown.
function(sbom_package id name version license)
  set(said "")
  if(version MATCHES "[0-9]")
    set(said "\"versionInfo\": \"${version}\", ")
  endif()
  list(APPEND PPROF_SBOM_PACKAGES "{ \"SPDXID\": \"SPDXRef-${id}\", \"name\": \"${name}\", ${said}\"downloadLocation\": \"NOASSERTION\", \
\"filesAnalyzed\": false, \"licenseConcluded\": \"${license}\", \"licenseDeclared\": \"${license}\", \"copyrightText\": \"NOASSERTION\" }")
  set(PPROF_SBOM_PACKAGES "${PPROF_SBOM_PACKAGES}" PARENT_SCOPE)
endfunction()

function(sbom_relation from type to)
  list(APPEND PPROF_SBOM_RELATIONSHIPS "{ \"spdxElementId\": \"SPDXRef-${from}\", \"relationshipType\": \"${type}\", \
\"relatedSpdxElement\": \"SPDXRef-${to}\" }")
  set(PPROF_SBOM_RELATIONSHIPS "${PPROF_SBOM_RELATIONSHIPS}" PARENT_SCOPE)
endfunction()

# What a part is linked to, by that file.
function(sbom_link from to library)
  set(type DYNAMIC_LINK)
  if(library MATCHES "[.]a$")
    set(type STATIC_LINK)
  endif()
  sbom_relation(${from} ${type} ${to})
  set(PPROF_SBOM_RELATIONSHIPS "${PPROF_SBOM_RELATIONSHIPS}" PARENT_SCOPE)
endfunction()

get_target_property(PPROF_SBOM_ZLIB ZLIB::ZLIB IMPORTED_LOCATION)
if(NOT PPROF_SBOM_ZLIB)
  get_target_property(PPROF_SBOM_ZLIB ZLIB::ZLIB IMPORTED_LOCATION_RELEASE)
endif()

header_version(zlib_version "${ZLIB_INCLUDE_DIR}" zlib.h ZLIB_VERSION)
header_version(pcre2_version "${PCRE2_INCLUDE_DIR}" pcre2.h PCRE2_MAJOR PCRE2_MINOR)
header_version(protobuf_c_version "${PROTOBUF_C_INCLUDE_DIR}" protobuf-c/protobuf-c.h PROTOBUF_C_VERSION)
header_version(elfutils_version "${LIBDW_INCLUDE_DIR}" elfutils/version.h _ELFUTILS_VERSION)

# ---- what is built, and what each part is linked to ----

sbom_package(libpprof libpprof ${PROJECT_VERSION} MIT)
sbom_package(libpprof-http libpprof-http ${PROJECT_VERSION} MIT)
sbom_package(cpprof cpprof ${PROJECT_VERSION} MIT)
sbom_package(zlib zlib "${zlib_version}" Zlib)
sbom_package(pcre2 pcre2 "${pcre2_version}" BSD-3-Clause)
foreach(part libpprof libpprof-http cpprof)
  sbom_relation(DOCUMENT DESCRIBES ${part})
endforeach()
sbom_link(libpprof zlib "${PPROF_SBOM_ZLIB}")
sbom_relation(libpprof-http DYNAMIC_LINK libpprof)
sbom_link(cpprof zlib "${PPROF_SBOM_ZLIB}")
sbom_link(cpprof pcre2 "${PCRE2_LIBRARY}")
sbom_package(libcurl libcurl "" curl)
sbom_relation(libcurl OPTIONAL_DEPENDENCY_OF cpprof) # loaded when it is needed, by dlopen
if(TARGET pprof_push)
  sbom_package(libpprof-push libpprof-push ${PROJECT_VERSION} MIT)
  sbom_package(protobuf-c protobuf-c "${protobuf_c_version}" BSD-2-Clause)
  sbom_relation(DOCUMENT DESCRIBES libpprof-push)
  sbom_link(libpprof-push zlib "${PPROF_SBOM_ZLIB}")
  sbom_link(libpprof-push protobuf-c "${PROTOBUF_C_LIBRARY}")
  sbom_link(cpprof protobuf-c "${PROTOBUF_C_LIBRARY}")
  sbom_relation(libcurl OPTIONAL_DEPENDENCY_OF libpprof-push)
endif()
if(TARGET pprof_dwarf)
  sbom_package(libpprof-dwarf libpprof-dwarf ${PROJECT_VERSION} MIT)
  sbom_package(elfutils elfutils "${elfutils_version}" "LGPL-3.0-or-later OR GPL-2.0-or-later")
  sbom_relation(DOCUMENT DESCRIBES libpprof-dwarf)
  sbom_relation(libpprof-dwarf DYNAMIC_LINK elfutils)
  sbom_link(libpprof-dwarf zlib "${PPROF_SBOM_ZLIB}")
endif()

string(SHA256 PPROF_SBOM_HASH "${PPROF_SBOM_PACKAGES}${PPROF_SBOM_RELATIONSHIPS}")
string(TIMESTAMP PPROF_SBOM_CREATED "%Y-%m-%dT%H:%M:%SZ" UTC) # of SOURCE_DATE_EPOCH, if that is set
list(JOIN PPROF_SBOM_PACKAGES ",\n    " PPROF_SBOM_PACKAGES)
list(JOIN PPROF_SBOM_RELATIONSHIPS ",\n    " PPROF_SBOM_RELATIONSHIPS)
configure_file(cmake/sbom.spdx.json.in libpprof.spdx.json @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/libpprof.spdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/libpprof COMPONENT development)
