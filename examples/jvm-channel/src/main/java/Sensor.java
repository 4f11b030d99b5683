// SPDX-License-Identifier: MIT OR Apache-2.0
import clearway.channel.Endpoint;
import clearway.channel.MethodTable;
import clearway.channel.transport.StreamTransport;
import java.util.List;

public class Sensor {
    public static void main(String[] args) throws Exception {
        Endpoint app = Endpoint.connect(StreamTransport.ofParent()).get();
        app.methods("lab/thermometer").handle(new MethodTable().on("level", (unit, context) -> 21.5));
        app.events("lab/thermometer/changed").serveEach(unit -> List.of(21.5, 24.0, 31.0, 35.5));
        app.getClosed().get(); // the app has ended
    }
}
