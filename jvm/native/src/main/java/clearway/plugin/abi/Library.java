// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.abi;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;

/** Finds and loads libclearway. Not API. */
public final class Library {
    /**
     * The system property that names the library's file. It takes precedence over the environment variable
     * CLEARWAY_LIBRARY. If neither is set, the system's loader searches for the file.
     */
    public static final String PROPERTY = "clearway.library";

    private static SymbolLookup found;

    private Library() {}

    /** Loads the library once. Throws the loader's IllegalArgumentException if the library is missing. */
    public static synchronized SymbolLookup symbols() {
        if (found == null) found = lookup(configuredPath());
        return found;
    }

    /** Returns the file that the property or the environment variable names; null if neither is set. */
    public static String configuredPath() {
        String named = System.getProperty(PROPERTY);
        return named != null ? named : System.getenv("CLEARWAY_LIBRARY");
    }

    // Loads the library into the global arena, which never unloads it. Threads of its plugins may still run in it.
    private static SymbolLookup lookup(String configuredPath) {
        Arena arena = Arena.global();
        return configuredPath != null
                ? SymbolLookup.libraryLookup(Path.of(configuredPath), arena)
                : SymbolLookup.libraryLookup(System.mapLibraryName("clearway"), arena);
    }
}
