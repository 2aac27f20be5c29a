// The atomic operations on one collection's entries, as Lua scripts. Redis runs one script at a time, so a document and its
// index entries change together (C9). All keys of a collection carry the hash tag {name} and so are in one cluster slot;
// therefore a script may also touch keys that KEYS does not name (index keys of the previous document, documents of an
// index).
//
//    <prefix>:{name}:d:<id>            hash: v version, x expiry (epoch ms, '' never), d the JSON, k its index keys (JSON)
//    <prefix>:{name}:i:<index>:<key>   sorted set of ids, all of score 0, hence in byte order
//    <prefix>:{name}:x                 sorted set of the ids that expire, by expiry; read by `sweep`
import type { Result } from 'ioredis';

/** ARGV[1] is the current time of our clock (epoch ms), which alone decides expiry (C1); ARGV[2] is the key prefix. */
const prelude = `
local now, prefix = tonumber(ARGV[1]), ARGV[2]
local function live(expires) return expires == '' or tonumber(expires) > now end
local function holds(keys, wanted)
  for _, key in ipairs(cjson.decode(keys)) do
    if key == wanted then return true end
  end
  return false
end
local function unindex(id, keys)
  for _, key in ipairs(cjson.decode(keys)) do redis.call('ZREM', prefix .. key, id) end
end
local function drop(id, keys)
  unindex(id, keys)
  redis.call('DEL', prefix .. 'd:' .. id)
  redis.call('ZREM', prefix .. 'x', id)
end
`;

/**
 * One write, or several of which all happen or none (C16): all are checked, then all are done. KEYS: of each write document,
 * expiries, one set for each index key. ARGV from 3: slack in ms, then for each write prefix, id, mode, expected version, expiry
 * ('' never, 'keep'), JSON, index keys as JSON, how many these are, and for each the index's name if it is unique, else ''.
 * Redis' own expiry is later than ours by the slack and only cleans up when no sweeper runs.
 */
const write = `${prelude}
local slack, writes, claimed, at = tonumber(ARGV[3]), {}, {}, 4
while at <= #ARGV do
  local it = {
    prefix = ARGV[at], id = ARGV[at + 1], mode = ARGV[at + 2], version = ARGV[at + 3], expires = ARGV[at + 4],
    text = ARGV[at + 5], keys = ARGV[at + 6], names = cjson.decode(ARGV[at + 6]), unique = {},
  }
  local count = tonumber(ARGV[at + 7])
  for n = 1, count do it.unique[n] = ARGV[at + 7 + n] end
  at = at + 8 + count
  table.insert(writes, it)
end

local function refusalOf(it, place)
  it.entry = prefix .. 'd:' .. it.id
  it.head = redis.call('HMGET', it.entry, 'v', 'x', 'k')
  it.isThere = it.head[1] and live(it.head[2])
  if it.mode == 'insert' and it.isThere then return { 'taken', place, 'id' } end
  if it.mode == 'replace' and not (it.isThere and it.head[1] == it.version) then return { 'conflict', place } end
  for n, index in ipairs(it.unique) do
    local key = prefix .. it.names[n]
    if index ~= '' then
      if claimed[key] then return { 'taken', place, index } end
      claimed[key] = true
      for _, owner in ipairs(redis.call('ZRANGE', key, 0, -1)) do
        local other = owner ~= it.id and redis.call('HMGET', prefix .. 'd:' .. owner, 'x', 'k')
        if other then
          if not other[2] or not holds(other[2], it.names[n]) then
            redis.call('ZREM', key, owner)
          elseif live(other[1]) then
            return { 'taken', place, index }
          else
            drop(owner, other[2])
          end
        end
      end
    end
  end
end

local function store(it, expires)
  redis.call('HSET', it.entry, 'v', it.version, 'x', expires, 'd', it.text, 'k', it.keys)
  local ttl
  if expires == '' then
    redis.call('ZREM', prefix .. 'x', it.id)
  else
    redis.call('ZADD', prefix .. 'x', expires, it.id)
    ttl = math.ceil(tonumber(expires) - now) + slack
    if ttl > 1e12 then ttl = nil end
  end
  local ttlText = ttl and string.format('%.0f', ttl)
  if ttl then redis.call('PEXPIRE', it.entry, ttlText) else redis.call('PERSIST', it.entry) end
  for _, name in ipairs(it.names) do
    local key = prefix .. name
    local left = redis.call('PTTL', key)
    redis.call('ZADD', key, 0, it.id)
    if not ttl then
      redis.call('PERSIST', key)
    elseif left == -2 or (left >= 0 and left < ttl) then
      redis.call('PEXPIRE', key, ttlText)
    end
  end
end

for n, it in ipairs(writes) do
  prefix = it.prefix
  local refusal = refusalOf(it, tostring(n - 1))
  if refusal then return refusal end
end
local done = { 'written' }
for _, it in ipairs(writes) do
  prefix = it.prefix
  local expires = it.expires == 'keep' and it.head[2] or it.expires
  it.version = it.isThere and string.format('%.0f', tonumber(it.head[1]) + 1) or '1'
  if it.head[3] then unindex(it.id, it.head[3]) end
  if it.mode == 'remove' or not live(expires) then
    redis.call('DEL', it.entry)
    redis.call('ZREM', prefix .. 'x', it.id)
  else
    store(it, expires)
  end
  table.insert(done, it.version)
  table.insert(done, expires)
end
return done
`;

/** KEYS: document. ARGV from 3: id. @returns 1 when a live document was removed */
const remove = `${prelude}
local head = redis.call('HMGET', KEYS[1], 'x', 'k')
if not head[2] then return 0 end
drop(ARGV[3], head[2])
return live(head[1]) and 1 or 0
`;

/**
 * KEYS: the index's set. ARGV from 3: index key, where to start (ZRANGEBYLEX), how many entries to read.
 * @returns how many were read, the last of them, and id, version, expiry and JSON of each live one
 */
const findBy = `${prelude}
local ids = redis.call('ZRANGEBYLEX', KEYS[1], ARGV[4], '+', 'LIMIT', 0, ARGV[5])
local found = {}
for _, id in ipairs(ids) do
  local head = redis.call('HMGET', prefix .. 'd:' .. id, 'v', 'x', 'd', 'k')
  if not head[4] or not holds(head[4], ARGV[3]) then
    redis.call('ZREM', KEYS[1], id)
  elseif live(head[2]) then
    for _, part in ipairs({ id, head[1], head[2], head[3] }) do table.insert(found, part) end
  end
end
return { #ids, ids[#ids] or '', found }
`;

/** KEYS: the index's set. ARGV from 3: index key, how many to read. @returns entries read, live documents removed */
const removeBy = `${prelude}
local ids = redis.call('ZRANGE', KEYS[1], 0, ARGV[4] - 1)
local removed = 0
for _, id in ipairs(ids) do
  local head = redis.call('HMGET', prefix .. 'd:' .. id, 'x', 'k')
  if head[2] and holds(head[2], ARGV[3]) then
    drop(id, head[2])
    if live(head[1]) then removed = removed + 1 end
  else
    redis.call('ZREM', KEYS[1], id)
  end
end
return { #ids, removed }
`;

/** KEYS: expiries. ARGV from 3: how many at most. @returns how many expired documents were removed */
const sweep = `${prelude}
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, id in ipairs(ids) do
  local keys = redis.call('HGET', prefix .. 'd:' .. id, 'k')
  if keys then drop(id, keys) else redis.call('ZREM', KEYS[1], id) end
end
return #ids
`;

/** ioredis sends each script once per connection, and its hash from then on. */
export const scripts: Record<string, { lua: string; numberOfKeys?: number }> = {
  latchkeyWrite: { lua: write },
  latchkeyRemove: { lua: remove, numberOfKeys: 1 },
  latchkeyFindBy: { lua: findBy, numberOfKeys: 1 },
  latchkeyRemoveBy: { lua: removeBy, numberOfKeys: 1 },
  latchkeySweep: { lua: sweep, numberOfKeys: 1 },
};

type Head = [key: string, now: number, prefix: string];

// How ioredis types custom commands.
declare module 'ioredis' {
  interface RedisCommander<Context> {
    latchkeyWrite(numberOfKeys: number, ...keysAndArguments: (string | number)[]): Result<string[], Context>;
    latchkeyRemove(...call: [...Head, id: string]): Result<number, Context>;
    latchkeyFindBy(
      ...call: [...Head, indexKey: string, from: string, limit: number]
    ): Result<[looked: number, last: string, found: string[]], Context>;
    latchkeyRemoveBy(
      ...call: [...Head, indexKey: string, limit: number]
    ): Result<[looked: number, removed: number], Context>;
    latchkeySweep(...call: [...Head, limit: number]): Result<number, Context>;
  }
}
