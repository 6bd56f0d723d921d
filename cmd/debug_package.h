/* SPDX-License-Identifier: MIT
 *
 * debug_package.h: the Debian package that has the debug file of an installed file.
 */
#ifndef CP_DEBUG_PACKAGE_H
#define CP_DEBUG_PACKAGE_H

/*
 * The name of the package with the debug files of `path`, from dpkg's records in `folder`
 * (/var/lib/dpkg): PACKAGE-dbgsym, or libc6-dbg and python3.N-dbg, which are named after their
 * sources. NULL if no package has installed the path, or if there is no dpkg. To be freed.
 */
char *cp_debug_package(const char *folder, const char *path);

#endif
