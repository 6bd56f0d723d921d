# SPDX-License-Identifier: MIT
#
# conanfile.py: a recipe for conan 2: `conan create packaging/conan`. It builds the project around it with the system's
# zlib, pcre2, protobuf-c and libdw, which `tools/bootstrap build` installs on Debian.

from os.path import join

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
import re


class LibpprofConan(ConanFile):
    name = "libpprof"
    license = "MIT"
    description = "Go's runtime/pprof for native Linux programs"
    settings = "os", "arch", "compiler", "build_type"
    package_type = "shared-library"

    def _root(self):
        return join(self.recipe_folder, "..", "..")

    def set_version(self):
        project = load(self, join(self._root(), "CMakeLists.txt"))
        self.version = re.search(r"project\(libpprof VERSION ([0-9.]+)", project).group(1)

    def export_sources(self):
        for folder in ("cmake", "src", "include", "dwarf", "remote", "push", "cmd", "http", "docs", "tools"):
            copy(self, folder + "/*", self._root(), self.export_sources_folder)
        for file in ("CMakeLists.txt", "LICENSE", "test/CMakeLists.txt"):
            copy(self, file, self._root(), self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["PPROF_TESTS"] = False
        toolchain.variables["PPROF_EXAMPLES"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "libpprof")
        self.cpp_info.components["pprof"].libs = ["pprof"]
        self.cpp_info.components["pprof"].set_property("cmake_target_name", "libpprof::pprof")
        self.cpp_info.components["pprof"].set_property("pkg_config_name", "libpprof")
        self.cpp_info.components["http"].libs = ["pprof-http"]
        self.cpp_info.components["http"].requires = ["pprof"]
        self.cpp_info.components["http"].set_property("cmake_target_name", "libpprof::http")
        self.cpp_info.components["http"].set_property("pkg_config_name", "libpprof-http")
