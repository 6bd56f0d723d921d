#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 3
#
# test_children.sh: children by fork, vfork, exec, posix_spawn, system and popen leave the parent's
# profile alone; with `subprocesses` each gets a profile of its own.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout
own_programs

run_child() { # OPTIONS WAY
    status timeout -s KILL 60 env LIBPPROF="cpu:1000,$1" LD_PRELOAD="$library" \
        "$victims/children" "$2" 2>errors
}

# Whether the parent's profile is that of the parent, before and after the child.
parent_profile() { # WAY FILE
    raw "$2"
    expect_share "parent_before with $1" 150 "$(weight_with "$2.raw" parent_before)"
    expect_share "parent_after with $1" 150 "$(weight_with "$2.raw" parent_after)"
    expect_equal "child's work in the parent's profile" 0 "$(weight_with "$2.raw" child_work)"
}

for way in fork fork-_exit raw-fork grandchild vfork vfork-exec spawn system popen clone-vm daemon many; do
    mkdir $way
    expect_equal "status of $way" 42 "$(run_child "file=$work/$way/%p.pb.gz" $way)"
    expect_equal "messages of $way" "" "$(cat errors)"
    # One profile: the child wrote none, under no name.
    expect_equal "files of $way" 1 "$(find $way -type f | wc -l)"
    parent_profile $way "$(echo $way/*.pb.gz)"
done

# With `subprocesses`: the parent, and each child that ends by itself.
children_profiles() { # WAY PROFILES PROFILES-WITH-CHILD_WORK
    mkdir "$1.sub"
    expect_equal "status of $1 with subprocesses" 42 \
        "$(run_child "subprocesses,file=$work/$1.sub/%e.%p.pb.gz" "$1")"
    expect_equal "files of $1 with subprocesses" "$2" "$(find "$1.sub" -type f | wc -l)"
    parents=0
    with_work=0
    for file in "$1.sub"/*.pb.gz; do
        raw "$file"
        if [ "$(weight_with "$file.raw" parent_before)" != 0 ]; then
            parents=$((parents + 1))
            mv "$file.raw" "$1.raw"
        elif [ "$(weight_with "$file.raw" child_work)" != 0 ]; then
            with_work=$((with_work + 1))
            expect_work "child_work of $1" 60 "$(weight_with "$file.raw" child_work)" 30
        fi
    done
    expect_equal "parents' profiles of $1" 1 $parents
    expect_equal "children's profiles of $1 with their work" "$3" $with_work
    expect_share "parent_after with $1" 150 "$(weight_with "$1.raw" parent_after)"
}
children_profiles fork 2 1
children_profiles fork-_exit 2 1
children_profiles grandchild 3 1
children_profiles daemon 3 1
children_profiles vfork 1 0
children_profiles clone-vm 1 0
children_profiles raw-fork 1 0
children_profiles vfork-exec 2 0
children_profiles spawn 2 0
children_profiles system 2 0
children_profiles popen 2 0
mkdir many.sub
expect_equal "status of 60 forks with subprocesses" 42 \
    "$(run_child "subprocesses,file=$work/many.sub/%p.pb.gz" many)"
expect_equal "files of 60 forks with subprocesses" 61 "$(find many.sub -type f | wc -l)"

# A process that turns into another program: what it did before is lost, what comes then counts.
mkdir exec
expect_equal "status of exec" 42 "$(run_child "file=$work/exec/%p.pb.gz" exec)"
expect_equal "files of exec" 0 "$(find exec -type f | wc -l)"
expect_equal "status of exec with subprocesses" 42 \
    "$(run_child "subprocesses,file=$work/exec/%e.pb.gz" exec)"
raw exec/sh.pb.gz
echo ok
