// SPDX-License-Identifier: MIT OR Apache-2.0

// A large value crosses in pieces. Each piece is one message on a port of its own, and brings the port of the next piece along:
//
//   [ fills, holders, references, nodes, next port ]
//
//   fills       [ index, Fill, contents,  index, Fill, contents,  ... ]   adds `contents` to the object at `index` of the table
//   holders     objects of this piece that later pieces fill or refer to. The reader adds them to its table
//   references  [ object, key, index,  ... ]   `object[key]` of this piece is the object at `index` of the table
//   nodes       how much work the piece is for its reader: values, and 1 for each KiB of text
//   next port   undefined in the last piece
//
// At first, the table has an empty array, and the first piece adds the value to it. The reader applies holders, references and fills, in this
// order. The worker posts all pieces at once, so what the task does with the value later changes nothing. The reader takes a piece when it
// has time: a port that is not started keeps its message.

/** How contents are added to an object. The numbers are part of the wire format. */
export enum Fill {
  /** As elements of an array. */
  elements = 0,
  /** As properties: key, value, key, value. */
  properties = 1,
  /** As members of a set. */
  members = 2,
  /** As entries of a map: key, value, key, value. */
  entries = 3,
}

/** A piece without its next port. */
export type Piece = [fills: unknown[], holders: object[], references: unknown[], nodes: number];

/** Nodes that a thread receives in a millisecond, before this was measured. Small objects in Node on a machine of 2020. */
export const nodesPerMsAtFirst = 4_000;

/** The measured figure stays within these bounds. A piece therefore has at most 500,000 nodes. */
export const nodesPerMsMin = 100;
export const nodesPerMsMax = 250_000;

/** How long a thread needs for one piece, in milliseconds. */
export const pieceMs = 2;

/** How long a thread may be held by a result in one message, in milliseconds, if the app sets nothing else. */
export const sliceBudgetMs = 4;
