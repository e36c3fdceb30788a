/** What servers of several releases answer to four-letter words. */

export const SRVR_3_4 = `Zookeeper version: 3.4.14-4c25d480e66aadd371de8bd2fd8da255ac140bcf, built on 03/06/2019 16:18 GMT
Latency min/avg/max: 0/1/45
Received: 1902
Sent: 1901
Connections: 3
Outstanding: 0
Zxid: 0x600000012
Mode: standalone
Node count: 140
`;

export const SRVR_3_5_LEADER = `Zookeeper version: 3.5.9-83df9301aa5c2a5d284a9940177808c01bc35cef, built on 01/06/2021 19:49 GMT
Latency min/avg/max: 0/0/12
Received: 6
Sent: 5
Connections: 2
Outstanding: 4
Zxid: 0x100000004
Mode: leader
Node count: 7
Proposal sizes last/min/max: 99/48/99
`;

export const SRVR_3_8 = `Zookeeper version: 3.8.0-\${mvngit.commit.id}, built on 2024-12-29 17:54 UTC
Latency min/avg/max: 3/22.3333/41
Received: 7
Sent: 6
Connections: 2
Outstanding: 0
Zxid: 0x100000004
Mode: follower
Node count: 7
`;

export const SRVR_CLICKHOUSE = `ClickHouse Keeper version: v23.3.1.2823-46e85357ce2da2a99f56ee83a079e892d7ec3726
Latency min/avg/max: 0/0/0
Received: 12
Sent : 11
Connections: 1
Outstanding: 0
Zxid: 36
Mode: leader
Node count: 4
`;

export const MNTR_3_4 = `zk_version\t3.4.14-4c25d480e66aadd371de8bd2fd8da255ac140bcf, built on 03/06/2019 16:18 GMT
zk_avg_latency\t1
zk_max_latency\t45
zk_min_latency\t0
zk_packets_received\t1902
zk_packets_sent\t1901
zk_num_alive_connections\t3
zk_outstanding_requests\t0
zk_server_state\tleader
zk_znode_count\t140
zk_watch_count\t7
zk_ephemerals_count\t2
zk_approximate_data_size\t9000
zk_open_file_descriptor_count\t40
zk_max_file_descriptor_count\t1048576
zk_followers\t2
zk_synced_followers\t2
zk_pending_syncs\t0
`;

export const MNTR_3_8 = `zk_version\t3.8.0-\${mvngit.commit.id}, built on 2024-12-29 17:54 UTC
zk_server_state\tleader
zk_peer_state\tleading - broadcast
zk_ephemerals_count\t2
zk_num_alive_connections\t2
zk_avg_latency\t16.5
zk_outstanding_requests\t0
zk_znode_count\t7
zk_packets_sent\t7
zk_packets_received\t8
zk_synced_followers\t2
zk_watch_count\t3
zk_last_proposal_size\t-1
zk_sum_updatelatency\t33
zk_cnt_updatelatency\t2
zk_sum_readlatency\t1
zk_cnt_readlatency\t4
`;

export const CONS_3_4 = ` /127.0.0.1:45678[1](queued=0,recved=3,sent=3,sid=0x169a8a7b0d50000,lop=GETC,est=1553099123456,to=30000,lcxid=0x2,lzxid=0x12,lresp=1553099125000,llat=1,minlat=0,avglat=0,maxlat=1)
 /0:0:0:0:0:0:0:1:45679[0](queued=0,recved=1,sent=0)

`;

export const CONS_3_8 = ` /[2001:db8:0:0:0:0:0:7]:36380[1](queued=0,recved=2,sent=2,sid=0xff00000634fd0000,lop=CREA,est=1795067687576,to=30000,lcxid=0x1,lzxid=0x100000003,lresp=407452,llat=17,minlat=0,avglat=16,maxlat=17)
 web3.example/10.0.0.7:36398[0](queued=2,recved=1,sent=0)

`;

export const CONS_CLICKHOUSE = ` 192.168.1.1:52163(recved=0,sent=0,sid=0xffffffffffffffff,lop=NA,est=1636454787393,to=30000,lzxid=0xffffffffffffffff,lresp=0,llat=0,minlat=0,avglat=0,maxlat=0)
 192.168.1.1:52042(recved=9,sent=36,sid=0x1,lop=List,est=1636454739887,to=30000,lcxid=0x3,lzxid=0x12,lresp=1636454787,llat=0,minlat=0,avglat=0,maxlat=0)
`;

export const DUMP_3_4 = `SessionTracker dump:
Session Sets (3):
0 expire at Wed Mar 20 16:25:24 UTC 2019:
1 expire at Wed Mar 20 16:25:30 UTC 2019:
	0x169a8a7b0d50000
ephemeral nodes dump:
Sessions with Ephemerals (1):
0x169a8a7b0d50000:
	/locks/lock-0000000001
`;

export const DUMP_3_8_LEADER = `SessionTracker dump:
Session Sets (2)/(2):
0 expire at Thu Nov 19 05:55:17 UTC 2026:
2 expire at Thu Nov 19 05:55:18 UTC 2026:
	0x100000634cc0000
	0xff00000634fd0000
ephemeral nodes dump:
Sessions with Ephemerals (2):
0x100000634cc0000:
	/e2 with space
	/Connections dump:
0xff00000634fd0000:
	/e1
Connections dump:
Connections Sets (2)/(2):
1 expire at Thu Nov 19 05:55:00 UTC 2026:
	ip: /127.0.0.1:36400 sessionId: 0x0
1 expire at Thu Nov 19 05:55:20 UTC 2026:
	ip: /127.0.0.1:36380 sessionId: 0xff00000634fd0000
`;

export const DUMP_3_8_FOLLOWER = `SessionTracker dump:
Global Sessions(2):
0x100000634cc0000	30000ms
0xff00000634fd0000	4000ms
ephemeral nodes dump:
Sessions with Ephemerals (0):
Connections dump:
Connections Sets (0)/(0):
`;

export const NOT_SERVING = "This ZooKeeper instance is not currently serving requests\n";

/** What is no answer to any of the words. */
export const GARBAGE: readonly string[] = [
  "",
  "\n",
  "imok",
  NOT_SERVING,
  "srvr is not executed because it is not in the whitelist.\n",
  "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n",
  "\u0000\ufffd\u001b[2J".repeat(1_000),
  "(".repeat(100_000),
  "[1".repeat(100_000),
  `${"x".repeat(1_000_000)}: 1`,
  "\t".repeat(100_000),
  "0x".repeat(100_000),
];
