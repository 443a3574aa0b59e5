postMessage(1);
