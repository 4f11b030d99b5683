// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.abi;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** Finds and loads libclearway. Not API. */
public final class Library {
    /**
     * The system property that names the library's file. It takes precedence over the environment variable
     * CLEARWAY_LIBRARY. If neither is set, the library comes from the class path, as the artifact clearway-native with
     * the classifier {@link #platform} has it. Without that artifact, the system's loader searches for the file.
     */
    public static final String PROPERTY = "clearway.library";

    private static final Map<String, String> ARCHITECTURES =
            Map.of("amd64", "x86_64", "x86_64", "x86_64", "aarch64", "aarch_64", "arm64", "aarch_64");

    private static SymbolLookup found;

    private Library() {}

    /**
     * Loads the library once. Throws the loader's IllegalArgumentException if the library is missing or cannot be
     * loaded.
     */
    public static synchronized SymbolLookup symbols() {
        if (found == null) found = lookup();
        return found;
    }

    /** Returns the file that the property or the environment variable names; null if neither is set. */
    public static String configuredPath() {
        String named = System.getProperty(PROPERTY);
        return named != null ? named : System.getenv("CLEARWAY_LIBRARY");
    }

    /** Returns the classifier of this machine's artifact, such as `linux-x86_64`. */
    public static String platform() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String name = os.startsWith("mac") ? "osx" : os.startsWith("windows") ? "windows" : os;
        String architecture = System.getProperty("os.arch");
        return name + "-" + ARCHITECTURES.getOrDefault(architecture, architecture);
    }

    /** Returns the place of the library on the class path. */
    public static String resource() {
        return "META-INF/clearway/" + platform() + "/" + System.mapLibraryName("clearway");
    }

    // Loads the library into the global arena, which never unloads it. Threads of its plugins may still run in it.
    private static SymbolLookup lookup() {
        Arena arena = Arena.global();
        String configuredPath = configuredPath();
        if (configuredPath != null) return SymbolLookup.libraryLookup(Path.of(configuredPath), arena);
        ClassLoader loader = Library.class.getClassLoader();
        try (InputStream bundled = loader.getResourceAsStream(resource())) {
            if (bundled != null) return unpacked(bundled, arena);
        } catch (IOException failed) {
            String folder = System.getProperty("java.io.tmpdir");
            throw new IllegalArgumentException("libclearway could not be unpacked to " + folder, failed);
        }
        return SymbolLookup.libraryLookup(System.mapLibraryName("clearway"), arena);
    }

    // The folder is new, and only this user may write to it. A loaded library needs its file no more, except on
    // Windows.
    private static SymbolLookup unpacked(InputStream bundled, Arena arena) throws IOException {
        Path folder = Files.createTempDirectory("clearway-");
        Path file = folder.resolve(System.mapLibraryName("clearway"));
        try {
            Files.copy(bundled, file);
            return SymbolLookup.libraryLookup(file, arena);
        } finally {
            try {
                Files.deleteIfExists(file);
                Files.deleteIfExists(folder);
            } catch (IOException busy) {
                folder.toFile().deleteOnExit();
                file.toFile().deleteOnExit();
            }
        }
    }
}
