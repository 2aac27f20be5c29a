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
 * KEYS: document, expiries, one set for each index key. ARGV from 3: id, mode, expected version, expiry ('' never,
 * 'keep'), JSON, index keys as JSON, slack in ms, then for each index key the index's name if it is unique, else ''.
 * Redis' own expiry is later than ours by the slack and only cleans up when no sweeper runs.
 */
const write = `${prelude}
local id, mode, expires = ARGV[3], ARGV[4], ARGV[6]
local head = redis.call('HMGET', KEYS[1], 'v', 'x', 'k')
local isThere = head[1] and live(head[2])
if mode == 'insert' and isThere then return { 'taken', 'id' } end
if mode == 'replace' and not (isThere and head[1] == ARGV[5]) then return { 'conflict' } end
for n = 3, #KEYS do
  local index = ARGV[n + 7]
  if index ~= '' then
    for _, owner in ipairs(redis.call('ZRANGE', KEYS[n], 0, -1)) do
      local other = owner ~= id and redis.call('HMGET', prefix .. 'd:' .. owner, 'x', 'k')
      if other then
        if not other[2] or not holds(other[2], string.sub(KEYS[n], #prefix + 1)) then
          redis.call('ZREM', KEYS[n], owner)
        elseif live(other[1]) then
          return { 'taken', index }
        else
          drop(owner, other[2])
        end
      end
    end
  end
end
local version = isThere and string.format('%.0f', tonumber(head[1]) + 1) or '1'
if expires == 'keep' then expires = head[2] end
if head[3] then unindex(id, head[3]) end
if not live(expires) then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], id)
  return { 'written', version, expires }
end
redis.call('HSET', KEYS[1], 'v', version, 'x', expires, 'd', ARGV[7], 'k', ARGV[8])
local ttl
if expires == '' then
  redis.call('ZREM', KEYS[2], id)
else
  redis.call('ZADD', KEYS[2], expires, id)
  ttl = math.ceil(tonumber(expires) - now) + tonumber(ARGV[9])
  if ttl > 1e12 then ttl = nil end
end
local ttlText = ttl and string.format('%.0f', ttl)
if ttl then redis.call('PEXPIRE', KEYS[1], ttlText) else redis.call('PERSIST', KEYS[1]) end
for n = 3, #KEYS do
  local left = redis.call('PTTL', KEYS[n])
  redis.call('ZADD', KEYS[n], 0, id)
  if not ttl then
    redis.call('PERSIST', KEYS[n])
  elseif left == -2 or (left >= 0 and left < ttl) then
    redis.call('PEXPIRE', KEYS[n], ttlText)
  end
end
return { 'written', version, expires }
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
