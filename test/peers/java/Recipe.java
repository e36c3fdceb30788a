/** One contender's lock, as its library has it. */
interface Recipe extends AutoCloseable {
    void acquire() throws Exception;

    void release() throws Exception;

    /** As the log calls what is held: exclusive, read, write, permit. */
    String kind();

    /** The znode that stands for the lock while it is held; null where its number says nothing about the order. */
    String znode();
}
