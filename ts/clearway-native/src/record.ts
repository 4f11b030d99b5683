// SPDX-License-Identifier: MIT OR Apache-2.0
// Records that the addon writes for JavaScript: ten numbers each in `heads`, bytes in `body`.
//
//   heads  0      1    2        3    4      5      6        7      8          9
//         +------+----+--------+----+------+------+--------+------+----------+--------+
//         | kind | id | status | at | size | slot | textAt | text | attached | copied |
//         +------+----+--------+----+------+------+--------+------+----------+--------+
//
//   slot       0: the bytes are in `body`; above 0: in that native memory; below 0: in the view that was lent as -slot
//   at, size   position and number of bytes; size is -1 for null
//   text       bytes of text at `textAt` in `body`: an error, a log entry, or the name of a message's channel
//   attached   number of attached memories; their slots are in the records of kind `attached` that follow
//   copied     bytes that were copied into the queue: all of them, or none

/** Numbers per record. */
export const stride = 10;
/** The maximum number of records per drain. An event takes 80 bytes here, so a batch stays in the second-level cache. */
export const headsMax = 2048;
/** The maximum number of bytes per drain, for the same reason. Bodies above a quarter of this arrive as memory. */
export const bodyBytes = 1 << 18;

export const kind = {
  reply: 1,
  event: 2,
  end: 3,
  message: 4,
  log: 5,
  returned: 6,
  attached: 7,
  dropped: 8,
  closed: 9,
} as const;

export const field = {
  kind: 0,
  id: 1,
  status: 2,
  at: 3,
  size: 4,
  slot: 5,
  textAt: 6,
  text: 7,
  attached: 8,
  copied: 9,
} as const;
