/** What one writes with node-zookeeper-client to read a znode: naive-get.js SERVERS PATH. */
import zookeeper from "node-zookeeper-client";

const [servers, path] = process.argv.slice(2);
const client = zookeeper.createClient(servers);
client.once("connected", () => {
  client.getData(path, (error, data) => {
    if (error) throw error;
    console.log(data.toString());
    client.close();
  });
});
client.connect();
