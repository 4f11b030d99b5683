// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.api;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import kotlin.sequences.SequencesKt;
import kotlinx.validation.api.KotlinSignaturesLoadingKt;

/**
 * Writes the public API of modules. The arguments are a folder for the files NAME.api, and then for each module its name
 * and its folder of classes. Prints nothing.
 */
public final class Dump {
    /** Packages that are public for the JVM only. */
    private static final List<String> NOT_API = List.of("clearway.plugin.abi");

    private Dump() {}

    /** Writes the files. Throws the exceptions of the file system. */
    public static void main(String[] args) throws IOException {
        Path out = Path.of(args[0]);
        for (int at = 1; at + 1 < args.length; at += 2) {
            String text = api(Path.of(args[at + 1]));
            Files.writeString(out.resolve(args[at] + ".api"), text);
        }
    }

    private static String api(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            var classes = files.filter(path -> path.toString().endsWith(".class"))
                    .sorted()
                    .map(Dump::read)
                    .iterator();
            var all = KotlinSignaturesLoadingKt.loadApiFromJvmClasses(SequencesKt.asSequence(classes), name -> true);
            var open = KotlinSignaturesLoadingKt.filterOutNonPublic(all, NOT_API, List.of());
            return KotlinSignaturesLoadingKt.dump(open, new StringBuilder()).toString();
        }
    }

    private static InputStream read(Path path) {
        try {
            return new ByteArrayInputStream(Files.readAllBytes(path));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
