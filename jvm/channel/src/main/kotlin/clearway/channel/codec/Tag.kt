// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

//  The layout of a value in the standard codec (spec/wire.md). A value is a type byte (tag) and a body. All numbers are
//  little-endian.
//
//    ┌─────┐              null, true, false
//    │ tag │
//    ├─────┼───────────┐  int32: 4 bytes; int64: 8 bytes; not aligned
//    │ tag │ integer   │
//    ├─────┼──────┬────┴─────┐  big integer (ASCII hex), text (UTF-8), bytes
//    │ tag │ size │ bytes    │
//    ├─────┼──────┼─────┬────┴─────┐  lists of numbers; a single float64 has no size
//    │ tag │ size │ pad │ elements │  pad: zeros up to a multiple of the element's size
//    ├─────┼──────┼─────┴────┬─────┘  list: values; map: key and value in turn
//    │ tag │ size │ values … │
//    ├─────┼──────┴───┬──────┘  128 and up: the body that the extension wrote
//    │ tag │ body     │
//    └─────┴──────────┘
//
//  Padding counts from byte 0 of the message. A size up to 253 takes one byte. A size up to 0xFFFF is the byte FE and
//  2 bytes. A larger size is the byte FF and 4 bytes.

internal object Tag {
    const val NULL = 0
    const val TRUE = 1
    const val FALSE = 2
    const val INT32 = 3
    const val INT64 = 4
    const val BIG = 5
    const val FLOAT64 = 6
    const val TEXT = 7
    const val BYTES = 8
    const val INT32S = 9
    const val INT64S = 10
    const val FLOAT64S = 11
    const val LIST = 12
    const val MAP = 13
    const val FLOAT32S = 14

    /**
     * A reference to an attachment that holds a list. The reference is this byte, the list's own type byte, and the
     * attachment's number as a size. Only Clearway's channels use this type byte.
     */
    const val ATTACHED = 127

    /** The first and the last type byte of extensions. Type bytes 15 to 127 are reserved. */
    const val EXTENSION_MIN = 128
    const val EXTENSION_MAX = 255
}

internal object Size {
    const val ONE_MAX = 0xfd
    const val TWO = 0xfe
    const val TWO_MAX = 0xffff
    const val FOUR = 0xff
}

/** The first byte of a reply. */
internal object Envelope {
    const val SUCCESS = 0
    const val ERROR = 1
}
