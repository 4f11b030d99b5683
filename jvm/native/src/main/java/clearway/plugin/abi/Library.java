// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.abi;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;

/** Where libclearway is. Not API. */
public final class Library {
    /** Names the file, before the environment's CLEARWAY_LIBRARY; without either the system's loader looks for it. */
    public static final String PROPERTY = "clearway.library";

    private static SymbolLookup found;

    private Library() {}

    /** Loads it, once. Throws what the system's loader says: an IllegalArgumentException where it is not there. */
    public static synchronized SymbolLookup symbols() {
        if (found == null) found = lookup(place());
        return found;
    }

    /** The file that was named, or null. */
    public static String place() {
        String named = System.getProperty(PROPERTY);
        return named != null ? named : System.getenv("CLEARWAY_LIBRARY");
    }

    // In the global arena: the library is never unloaded, because threads of its plugins may be in it.
    private static SymbolLookup lookup(String place) {
        Arena arena = Arena.global();
        return place != null
                ? SymbolLookup.libraryLookup(Path.of(place), arena)
                : SymbolLookup.libraryLookup(System.mapLibraryName("clearway"), arena);
    }
}
