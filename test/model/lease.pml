/*
 * The lease of a lock-holding session, as a model that spin searches completely. docs/adr/0003
 * has the proof in words; lease.integration.test.ts names the variants and what each of them shows.
 *
 * Time is counted in units of the leader's clock. Nothing has to happen soon: messages, answers,
 * pings, expiry and elections take any time. So cuts, crashes and paused leaders, followers and
 * clients need no code of their own: they are steps that come late or never. Connections keep
 * the order of their messages, as TCP does.
 *
 * Servers: L leads epoch 1. F follows L, and may stay with L after L is deposed (an observer, or
 * a follower in an ensemble of five). N leads epoch 2. Each quorum of L shares a server with the
 * quorum of N. V stands for the last server of N's quorum to accept epoch 2: before that L can
 * have a transaction acknowledged, after that never. Epochs 1 and 2 stand for any two successive
 * ones, and a follower of N would be to N what F is to L.
 *
 * The client: a wrong lease rests on one wrongly proved request. So the model begins when the
 * client sends that request, P, at an arbitrary moment: on an open connection to any server, or
 * as the handshake of a new one. Y and S are the later requests that prove P. A lost connection
 * ends the run, because nothing but the lease is carried over. All other requests are left out:
 * they could only make a leader extend the session. Answers reach the client at once: a later
 * answer only delays what the client does next, and that may be late anyway.
 */

#define ANY       0	/* any answer to P renews the lease */
#define SYNC      1	/* P and, a quarter later, an answer that only a leader gives; also a handshake */
#define COMMITTED 2	/* P and, a quarter later, a committed transaction */
#define CONFIRMED 3	/* P, a quarter later an answer of the leader, behind that a committed transaction */

#ifndef RULE
#define RULE CONFIRMED
#endif
#ifndef T
#define T 20		/* the timeout that the session was created with: one unit is 0.05 T */
#endif
#ifndef GRANTED
#define GRANTED T	/* the timeout that the present server has granted */
#endif
#ifndef HALF_TICK
#define HALF_TICK (T / 4)	/* a session timeout is never less than two ticks */
#endif
#ifndef PING_LATE
#define PING_LATE 0	/* lateness of the leader's ping loop, and a client's clock that runs fast */
#endif
#ifndef PING_FIRST
#define PING_FIRST 1	/* a leader that runs again sends its overdue ping before it answers */
#endif
#ifndef WAIT
#define WAIT (T / 4)	/* from P's answer until the client may send Y */
#endif
#ifndef LEASE
#define LEASE T		/* 0.95 T on a client's clock that is slow by the whole margin of 5 % */
#endif
#ifndef FRESH
#define FRESH LEASE	/* a proof of a P that is older than this does not count */
#endif
#ifndef AT
#define AT 0		/* 1: the client's server is L, 2: F */
#endif

/*
 * What CONFIRMED need not assume. LEFT 0 covers every history of the session before P, because
 * an expiry that is possible need not happen.
 */
#ifndef LEFT
#define LEFT 0		/* when P is sent: until the leader may expire the session */
#endif
#ifndef HELD
#define HELD 0		/* 1: the client has a true lease when it sends P, and gives up when that one ends */
#endif
#ifndef ROUND
#define ROUND 0		/* 1: one unit after the proof, the leader has heard of the session from F */
#endif

mtype = { PING, REPORT, READ, SYNCED, WRITE, ANSWER };
mtype:server = { AT_L, AT_F, AT_N };
mtype:stage = { GREETING, ACCEPTED, P_SENT, P_ANSWERED, Y_SENT, REPORTED, S_SENT, LEASED, OVER };

/* The client. */
mtype:server server;
mtype:stage stage;
byte age = 0;			/* since P was sent */
byte wait = 0;			/* until Y may be sent */
byte held = HELD * LEFT;	/* HELD: until the lease ends that the client has had before P */

/* Connections. Between client and server is at most one request: P, Y and S follow each other. */
mtype request = 0;
chan toLeader = [3] of { mtype };	/* F to L */
chan toFollower = [3] of { mtype };	/* L to F */

/* F's table of the sessions that it has heard from. */
bool noted = false;
bool round = false;		/* ROUND: L is about to hear of the session */

/* The leaders. */
byte left = LEFT;		/* until L, and after its election N, may expire the session */
byte sincePing = 0;
bool proposed = false;		/* L has proposed the client's transaction */
bool acknowledged = false;	/* V has acknowledged it */
bool closing = false;		/* L has expired the session */
bool moved = false;		/* V has accepted epoch 2 */
bool elected = false;		/* N has taken over */
bool closed = false;		/* V has logged the close of L (N will know it), or N has expired the session */

#define believes (stage == LEASED && age < LEASE)
#define over (stage == OVER || age >= LEASE)
#define ready (!PING_FIRST || sincePing < HALF_TICK + PING_LATE)

inline forget() {	/* what cannot matter any more; keeps the state space small */
	request = 0; noted = false; proposed = false; acknowledged = false; wait = 0; sincePing = 0;
	do
	:: nempty(toLeader) -> toLeader?_
	:: nempty(toFollower) -> toFollower?_
	:: empty(toLeader) && empty(toFollower) -> break
	od
}

inline credit() {
	forget();
	if
	:: age > FRESH || (HELD && held == 0) -> stage = OVER
	:: else -> stage = LEASED; held = 0; round = (ROUND && server == AT_F); assert(!closed)
	fi
}

inline answer() {
	if
	:: stage == P_SENT && RULE == ANY -> credit()
	:: stage == P_SENT && RULE != ANY -> stage = P_ANSWERED; wait = WAIT
	:: stage == Y_SENT && RULE != CONFIRMED -> credit()
	:: stage == Y_SENT && RULE == CONFIRMED -> stage = REPORTED
	:: stage == S_SENT -> credit()
	fi
}

inline touch() {
	if
	:: !closing && !moved -> left = GRANTED
	:: else		/* a deposed leader's clock no longer matters */
	fi
}

init {
	atomic {
		if
		:: AT != 2 -> server = AT_L
		:: AT != 1 -> server = AT_F; select(sincePing : 0 .. HALF_TICK)
		:: AT != 1 -> server = AT_F; toFollower!PING
		:: AT != 1 -> server = AT_F; toFollower!PING; toFollower!PING
		:: AT == 0 -> server = AT_N; moved = true; elected = true
		fi;
		if		/* L may have been deposed before */
		:: true
		:: moved = true; elected = true
		fi;
		if
		:: stage = GREETING
		:: RULE != COMMITTED -> stage = P_SENT; request = READ
		:: stage = P_SENT; request = SYNCED
		:: stage = P_SENT; request = WRITE
		fi
	}

end:	do
	/* ---- the clock */
	:: d_step {
		!over ->
		age++;
		left = (round && !closing && !moved -> T : (left > 0 -> left - 1 : 0));
		round = false;
		held = (held > 0 -> held - 1 : 0);
		wait = (wait > 0 -> wait - 1 : 0);
		sincePing = (server == AT_F && stage != LEASED && sincePing < HALF_TICK + PING_LATE ->
			sincePing + 1 : sincePing)
	}

	/* ---- the client; a connection that is lost before the proof ends the run */
	:: !over && stage != LEASED -> d_step { forget(); stage = OVER }
	:: !over && stage == P_ANSWERED && wait == 0 -> atomic {
		stage = Y_SENT;
		if
		:: RULE == SYNC || RULE == CONFIRMED -> request = SYNCED
		:: RULE == COMMITTED || RULE == CONFIRMED -> request = WRITE
		fi
	}
	:: !over && stage == REPORTED -> d_step { stage = S_SENT; request = WRITE }

	/* ---- a handshake: only leaders accept it, but a deposed leader does not know that it is deposed */
	:: !over && stage == GREETING && server != AT_N && !closing && ready -> d_step { touch(); stage = ACCEPTED }
	:: !over && stage == GREETING && server == AT_N && !closed -> d_step { left = GRANTED; stage = ACCEPTED }
	:: !over && stage == ACCEPTED -> atomic {
		if
		:: RULE == ANY || RULE == SYNC -> credit()
		:: RULE == COMMITTED || RULE == CONFIRMED -> stage = REPORTED
		fi
	}

	/* ---- F notes the session, answers reads by itself, forwards the rest */
	:: !over && server == AT_F && request != 0 && nfull(toLeader) -> d_step {
		noted = true;
		if
		:: request == READ -> request = 0; answer()
		:: request != READ -> toLeader!request; request = 0
		fi
	}
	:: !over && server == AT_F && nempty(toFollower) && nfull(toLeader) -> d_step {
		if
		:: toFollower?[PING] ->
			toFollower?PING;
			if
			:: noted -> toLeader!REPORT; noted = false
			:: else
			fi
		:: toFollower?[ANSWER] -> toFollower?ANSWER; answer()
		fi
	}

	/* ---- L: what F sends; a forwarded request does not touch the session */
	:: !over && server == AT_F && ready && nempty(toLeader) && !(proposed || acknowledged) && nfull(toFollower) -> d_step {
		if
		:: toLeader?[REPORT] -> toLeader?REPORT; touch()
		:: toLeader?[SYNCED] -> toLeader?SYNCED; toFollower!ANSWER
		:: toLeader?[WRITE] ->
			toLeader?WRITE;
			if
			:: closing -> forget(); stage = OVER	/* "session expired" proves nothing */
			:: else -> proposed = true
			fi
		fi
	}
	/* ---- L: what the client sends */
	:: !over && server == AT_L && request != 0 -> d_step {
		if
		:: closing -> forget(); stage = OVER
		:: else ->
			touch();
			if
			:: request == WRITE -> proposed = true; request = 0
			:: else -> request = 0; answer()
			fi
		fi
	}
	:: !over && acknowledged && server == AT_L -> d_step { acknowledged = false; answer() }
	:: !over && acknowledged && server == AT_F && ready && nfull(toFollower) -> d_step {
		acknowledged = false; toFollower!ANSWER
	}
	:: !over && server == AT_F && sincePing >= HALF_TICK && nfull(toFollower) -> d_step {
		sincePing = 0; toFollower!PING
	}
	:: !over && !moved && left == 0 && !closing -> closing = true

	/* ---- V: what V has logged in epoch 1, N will know */
	:: !over && !moved && proposed -> d_step { proposed = false; acknowledged = true }
	:: !over && !moved && closing && !proposed && !closed -> d_step { closed = true; assert(!believes) }
	:: !over && !moved -> d_step { moved = true; left = 0 }

	/* ---- N touches all sessions when it takes over, which is after V has accepted its epoch */
	:: !over && moved && !elected && !closed -> d_step { elected = true; left = T }
	:: !over && elected && left == 0 && !closed -> d_step { closed = true; assert(!believes) }
	:: !over && server == AT_N && request != 0 && !closed -> d_step { left = GRANTED; request = 0; answer() }
	od
}
