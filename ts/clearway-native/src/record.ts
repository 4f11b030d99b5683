// SPDX-License-Identifier: MIT OR Apache-2.0
// The records that the addon writes for JavaScript. A record has ten numbers in `heads`. Its bytes and its text are in `body`.
//
//   heads  0      1    2        3    4      5        6        7          8          9
//         +------+----+--------+----+------+--------+--------+----------+----------+--------+
//         | kind | id | status | at | size | handle | textAt | textSize | attached | copied |
//         +------+----+--------+----+------+--------+--------+----------+----------+--------+
//
//   id         number of the call, stream or loan; for kind `message`, the handle of its reply
//   status     status of clearway.h; for kind `log`, the level
//   handle     0: the bytes are in `body`; above 0: they are in that native memory; below 0: they are in the view lent with the id -handle
//   at, size   position and number of the bytes; size is -1 for null; for kind `dropped`, size is the number of dropped events
//   textSize   number of bytes of the text at `textAt` in `body`: an error, a log line, or the name of a message's channel
//   attached   number of attached memories; their handles are in the following records of kind `attached`
//   copied     number of bytes that the core copied into its queue: all bytes of the content, or 0

/** The size of a record, in numbers. */
export const stride = 10;
/** The maximum number of records per drain. A record takes 80 bytes, so all records of a drain fit into the second-level cache. */
export const headsMax = 2048;
/** The size of `body` in bytes. It is limited for the same reason. Contents of more than 63 bytes are not in `body` but in memory. */
export const bodyBytes = 1 << 18;

export const kind = {
  reply: 1,
  event: 2,
  end: 3,
  message: 4,
  log: 5,
  loanReturned: 6,
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
  handle: 5,
  textAt: 6,
  textSize: 7,
  attached: 8,
  copied: 9,
} as const;
