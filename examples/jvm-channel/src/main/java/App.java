// SPDX-License-Identifier: MIT OR Apache-2.0
import clearway.channel.Endpoint;
import clearway.channel.EventStream;
import clearway.channel.transport.StreamTransport;

public class App {
    public static void main(String[] args) throws Exception {
        String java = ProcessHandle.current().info().command().orElse("java");
        Process child = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "Sensor")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (Endpoint sensor = Endpoint.connect(StreamTransport.ofChild(child)).get()) {
            double level =
                    sensor.methods("lab/thermometer").<Double>call("level").get();
            System.out.println("level: " + level);
            try (EventStream<Double> changes =
                    sensor.events("lab/thermometer/changed").listen()) {
                for (double change : changes) {
                    System.out.println("changed: " + change);
                    if (change > 30) break; // ends the stream in the other process, too
                }
            }
        }
    }
}
