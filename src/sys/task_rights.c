/* SPDX-License-Identifier: MIT
 *
 * task_rights.c: see task_rights.h.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.identity
 */
#include "sys/task_rights.h"

#include "arch/system_call.h"

#include <linux/capability.h>
#include <linux/prctl.h>

_Static_assert(sizeof(pp_task_capabilities) ==
                   sizeof(struct __user_cap_data_struct[_LINUX_CAPABILITY_U32S_3]),
               "the kernel's form");

bool pp_task_capabilities_read(int tid, pp_task_capabilities *capabilities)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = tid};
    return pp_system_call(SYS_capget, &header, capabilities) == 0;
}

long pp_task_secure_bits(void)
{
    return pp_system_call(SYS_prctl, PR_GET_SECUREBITS);
}
