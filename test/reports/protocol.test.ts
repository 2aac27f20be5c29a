// Reports of the protocol, by topic, on one application: most of a file's time is its start.
import './clients.ts';
import './dpop.ts';
import './edges.ts';
import './redirect-uris.ts';
import './sessions.ts';
import './tokens.ts';
