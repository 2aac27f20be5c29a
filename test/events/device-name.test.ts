// The words for a browser, from its User-Agent.
import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { deviceName } from '../../src/events/device-name.ts';
import { isWithin } from '../support/patience.ts';

test('device name: well-known browser and system names', () => {
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0';
  const cases: readonly (readonly [string, string])[] = [
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'Firefox on Windows',
    ],
    [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome} Safari/537.36`, 'Chrome on ChromeOS'],
    [`Mozilla/5.0 (Linux; Android 10; K) SamsungBrowser/28.0 ${chrome}`, 'Samsung Internet on Android'],
    [
      'Mozilla/5.0 (iPad; CPU OS 17_7 like Mac OS X) CriOS/138.0 Mobile/15E148 Safari/604.1',
      'Chrome on iPad',
    ],
    [`Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/140.0.0.0 Safari/537.36`, 'Chrome on Linux'],
    [`Mozilla/5.0 (X11; Linux x86_64) ${chrome} Safari/537.36`, 'Chrome on Linux'],
    [`Mozilla/5.0 (Windows NT 10.0) ${chrome} Safari/537.36 Edg/140.0`, 'Edge on Windows'],
    [`Mozilla/5.0 (Linux; Android 15) ${chrome} Mobile Safari/537.36`, 'Chrome on Android'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/18.0 Safari/605.1.15', 'Safari on macOS'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1', 'Safari on iPhone'],
    ['curl/8.5.0', 'Unknown'],
    ['', 'Unknown'],
    ['<script>alert(1)</script>', 'Unknown'],
  ];
  for (const [userAgent, name] of cases) equal(deviceName(userAgent), name);
});

test('device name: what an unknown browser calls itself is not repeated', () => {
  equal(deviceName('Your account is blocked, call +1 555 0100/1 now'), 'Unknown');
  equal(deviceName('evil.example/1 (Windows NT 10.0)'), 'Windows');
});

test('device name: a User-Agent of any length is read quickly', () => {
  for (const part of ['a/ ', 'Version/', 'Android ', '(', 'Mozilla/5.0 (']) {
    const startedAt = performance.now();
    deviceName(part.repeat(100_000));
    equal(isWithin(performance.now() - startedAt, 1_000), true, part);
  }
});
