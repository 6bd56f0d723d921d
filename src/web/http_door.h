/* SPDX-License-Identifier: MIT
 *
 * http_door.h: tells the server in libpprof-http what happens to the process
 * (include/pprof_http_door.h). Without a server, nothing happens here.
 *
 * Zone: NORMAL.
 * Owns: nothing; the server's functions are constants.
 */
#ifndef PP_WEB_HTTP_DOOR_H
#define PP_WEB_HTTP_DOOR_H

void pp_http_door_after_fork_in_child(void);
void pp_http_door_before_confinement(void);
void pp_http_door_before_exec(void);
void pp_http_door_at_end(void); /* also in the fatal-signal writer */

#endif
