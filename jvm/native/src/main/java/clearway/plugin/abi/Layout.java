// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.abi;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;

/**
 * Offsets of the fields of clearway.h and clearway_host.h, in bytes, on 64-bit systems. Not API.
 *
 * <pre>
 *          0      8      16       24            32      40     48
 * text     | data | size |
 * content  | data | size | memory | attachments | count |
 * view     | memory | data | size | flags, 0 |
 * window   | size | items, when_full | bytes | credit |
 * options  | size | threads, calls_max | streams_max, 0 |
 *
 *          0             8     16       24        32        72     88     96       104
 * event    | kind,status | tag | handle | dropped | content | text | held | copied |
 * </pre>
 */
public final class Layout {
    public static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    public static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    public static final StructLayout TEXT =
            MemoryLayout.structLayout(ValueLayout.ADDRESS.withName("data"), LONG.withName("size"));

    public static final long TEXT_DATA = 0, TEXT_SIZE = 8, TEXT_BYTES = 16;
    public static final long CONTENT_DATA = 0, CONTENT_SIZE = 8, CONTENT_MEMORY = 16;
    public static final long CONTENT_ATTACHMENTS = 24, CONTENT_COUNT = 32, CONTENT_BYTES = 40;
    public static final long VIEW_MEMORY = 0, VIEW_DATA = 8, VIEW_SIZE = 16, VIEW_FLAGS = 24, VIEW_BYTES = 32;
    public static final long WINDOW_SIZE = 0, WINDOW_ITEMS = 8, WINDOW_WHEN_FULL = 12;
    public static final long WINDOW_MEMORY = 16, WINDOW_CREDIT = 24;
    public static final long WINDOW_BYTES = 32;
    public static final long OPTIONS_SIZE = 0, OPTIONS_THREADS = 8, OPTIONS_CALLS = 12, OPTIONS_STREAMS = 16;
    public static final long OPTIONS_BYTES = 24;
    public static final long EVENT_KIND = 0, EVENT_STATUS = 4, EVENT_TAG = 8, EVENT_HANDLE = 16, EVENT_DROPPED = 24;
    public static final long EVENT_CONTENT = 32, EVENT_TEXT = 72, EVENT_HELD = 88, EVENT_COPIED = 96, EVENT_BYTES = 104;

    /** The number of 64-bit counters in clearway_stats after its size, in the order of the header. */
    public static final int STATS_COUNT = 16;

    public static final long STATS_SIZE = 0, STATS_NUMBERS = 8, STATS_BYTES = STATS_NUMBERS + 8L * STATS_COUNT;

    private Layout() {}
}
