// SPDX-License-Identifier: MIT OR Apache-2.0
import clearway.executor.AdaptiveExecutor;
import clearway.executor.ItemResult;
import clearway.executor.Site;
import java.util.List;

public class App {
    public static void main(String[] args) throws Exception {
        List<String> images = List.of("a.png", "b.png", "notes.txt");
        try (AdaptiveExecutor executor = new AdaptiveExecutor()) {
            Site thumbnails = executor.site("thumbnails"); // one site for each kind of work; keep it
            System.out.println("small: " + executor.mapAll(thumbnails, images.subList(0, 2), App::shrink));
            for (ItemResult<String> each : executor.settleAll(thumbnails, images, App::shrink)) {
                if (!each.isSuccess()) System.out.println("failed: " + each.getFailure().getMessage());
            }
        }
    }

    static String shrink(String image) {
        if (!image.endsWith(".png")) throw new IllegalArgumentException(image);
        return image.replace(".png", "-small.png");
    }
}
