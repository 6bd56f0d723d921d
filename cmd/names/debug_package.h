/* SPDX-License-Identifier: MIT
 *
 * debug_package.h: the name of the Debian package with the debug file of an installed file.
 */
#ifndef CP_DEBUG_PACKAGE_H
#define CP_DEBUG_PACKAGE_H

/*
 * Returns the name of the package with the debug files of `path`, to be freed. It reads dpkg's
 * records in `folder` (/var/lib/dpkg). The name is PACKAGE-dbgsym, or libc6-dbg or python3.N-dbg,
 * which have the names of their sources. NULL if no package has installed the path, or if there is
 * no dpkg.
 */
char *cp_debug_package(const char *folder, const char *path);

#endif
