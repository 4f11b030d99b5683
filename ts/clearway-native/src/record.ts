// SPDX-License-Identifier: MIT OR Apache-2.0
// What the addon writes for JavaScript to read: records of ten numbers in `heads`, bytes in `body`. Nothing else here.
//
//   heads  0      1    2        3    4      5      6        7      8          9
//         +------+----+--------+----+------+------+--------+------+----------+--------+
//         | kind | id | status | at | size | slot | textAt | text | attached | copied |
//         +------+----+--------+----+------+------+--------+------+----------+--------+
//
//   slot       0: the bytes stand in `body`; above 0: in that native memory; below 0: in the view that was lent as -slot
//   at, size   where the bytes stand; size is -1 for null
//   text       bytes of text at `textAt` in `body`: what went wrong, a log's text, the name of a message's channel
//   attached   how many memories come with it: their slots stand in as many records of kind `attached` that follow
//   copied     bytes that were copied on the way into the queue: all of them, or none

/** Numbers in a record. */
export const stride = 10;
/** Records that fit: an event of the firehose costs 80 bytes here, so that a batch stays in the second-level cache. */
export const headsMax = 2048;
/** Bytes that fit. What is larger than a quarter of it comes as memory. Same reason. */
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
