import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Contenders that nobody here wrote. Each loops acquire, write to the log, release, until stdin ends or SIGTERM comes.
 * Arguments: servers, path, log[,log], least and most work in ms, then `name=recipe` for each contender.
 */
public final class Peer {
    private static final AtomicBoolean isOver = new AtomicBoolean();

    public static void main(String[] args) throws Exception {
        String servers = args[0];
        String path = args[1];
        ExclusionLog log = new ExclusionLog(args[2].split(","), Integer.parseInt(args[3]), Integer.parseInt(args[4]));

        List<Thread> threads = new ArrayList<>();
        for (int index = 5; index < args.length; index++) {
            String[] contender = args[index].split("=");
            Recipe recipe = contender[1].equals("writelock")
                ? new WriteLockRecipe(servers, path)
                : CuratorRecipe.of(contender[1], servers, path);
            threads.add(new Thread(() -> contend(contender[0], recipe, log)));
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            isOver.set(true);
            joinAll(threads);
        }));
        threads.forEach(Thread::start);
        System.out.println("ready");
        while (System.in.read() != -1) continue;
        isOver.set(true);
        joinAll(threads);
    }

    private static void contend(String name, Recipe recipe, ExclusionLog log) {
        int count = 0;
        try (recipe) {
            while (!isOver.get()) {
                recipe.acquire();
                try {
                    log.work(name + "#" + ++count, recipe.kind(), ticket(recipe.znode()));
                } finally {
                    recipe.release();
                }
            }
        } catch (Exception error) {
            error.printStackTrace();
            System.out.println(name + " failed: " + error);
        }
        System.out.println(name + " " + count);
    }

    /** The sequence number at the end of the name. */
    private static String ticket(String znode) {
        return znode == null ? "-" : String.valueOf(Integer.parseInt(znode.substring(znode.length() - 10)));
    }

    private static void joinAll(List<Thread> threads) {
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException stopped) {
                return;
            }
        }
    }
}
