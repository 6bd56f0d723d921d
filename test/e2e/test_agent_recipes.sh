#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_agent_recipes.sh: the recipes of examples/fleet/ for `cpprof agent`: systemd takes the unit, the manifest of Kubernetes
# is YAML in which the init container places what the variables name, the image installs what is built, and cpprof knows all
# options that they give.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
cpprof=$BUILD/bin/cpprof
recipes=$SRC/examples/fleet

# ---- options ----
"$cpprof" help --all agent >help.txt 2>&1
for option in $(grep -h agent "$recipes"/* | grep -v systemctl | grep -oE -- ' [[]?--[a-z][a-z-]*' | tr -d ' ' | sort -u); do
    expect_contains "an option of a recipe" help.txt "$option"
done

# ---- the unit ----
if command -v systemd-analyze >/dev/null; then
    mkdir -p units
    sed "s|/usr/bin/cpprof|$cpprof|" "$recipes/cpprof-agent.service" >units/cpprof-agent.service
    systemd-analyze verify --man=no units/cpprof-agent.service >verify.txt 2>&1 || fail "$(cat verify.txt)"
    ! grep -q 'cpprof-agent.service.*\(Unknown\|ignoring\|Failed to parse\)' verify.txt || fail "$(cat verify.txt)"
fi

# ---- the image ----
for package in $(grep -oE '/packages/[a-z0-9-]+_' "$recipes/Containerfile" | sed 's|/packages/||; s|_$||'); do
    grep -qE "PACKAGE_NAME $package\\)" "$SRC"/cmake/*.cmake || fail "cpack makes no package $package"
done

# ---- the manifest ----
python3 -c 'import yaml' 2>/dev/null || skip "no python3-yaml; the rest was tested"
python3 - "$recipes/kubernetes.yaml" <<'CHECK' || fail "the manifest"
import sys
import yaml
agent, shop = yaml.safe_load_all(open(sys.argv[1]))
assert agent["kind"] == "DaemonSet" and agent["spec"]["template"]["spec"]["hostPID"] is True
pod = shop["spec"]["template"]["spec"]
init, program = pod["initContainers"][0], pod["containers"][0]
environment = {variable["name"]: variable["value"] for variable in program["env"]}
folder = {mount["name"]: mount["mountPath"] for mount in program["volumeMounts"]}["libpprof"]
assert environment["LD_PRELOAD"] == folder + "/libpprof.so.0"
assert environment["LIBPPROF"].split(",")[0] == "control"
assert {mount["name"]: mount["mountPath"] for mount in init["volumeMounts"]}["libpprof"] + "/" in init["command"][-1]
for library in ("libpprof.so.0", "libpprof-http.so.0"):
    assert library in init["command"][-1]
for document in (agent, shop):
    inside = document["spec"]["template"]
    volumes = {volume["name"] for volume in inside["spec"]["volumes"]}
    for container in inside["spec"]["containers"] + inside["spec"].get("initContainers", []):
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
    assert document["spec"]["selector"]["matchLabels"].items() <= inside["metadata"]["labels"].items()
CHECK
