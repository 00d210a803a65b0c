"""Follows a running rig by the Foxglove WebSocket protocol, with libraries that are not ours.

    foxglove_client.py ADDRESS SUBPROTOCOL

Connects with `websockets`, subscribes to all channels, and checks each message of a schema of
Foxglove against the definition in `foxglove-sdk`. Prints the topics with their message counts.
Exit status 77: the libraries are missing (pip install websockets foxglove-sdk protobuf).
"""

import asyncio
import json
import struct
import sys

try:
    import websockets
    from foxglove import messages as foxglove_messages
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
except ImportError as error:
    print(error)
    sys.exit(77)

MESSAGES_PER_TOPIC = 3
PATIENCE_S = 20.0


def official_type(schema_name):
    """Returns Foxglove's own definition of a message, or None for other schemas."""
    owner, _, name = schema_name.partition(".")
    if owner != "foxglove":
        return None
    schema = getattr(foxglove_messages, name).get_schema()
    files = descriptor_pb2.FileDescriptorSet.FromString(schema.data)
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(schema_name))


def with_protobuf_times(value):
    """Returns JSON with times as Protobuf has them: Foxglove's JSON has seconds and nanoseconds."""
    if isinstance(value, list):
        return [with_protobuf_times(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"sec", "nsec"}:
        assert isinstance(value["sec"], int) and 0 <= value["nsec"] < 10**9
        return None
    return {key: with_protobuf_times(item) for key, item in value.items()}


def check_schema(properties, message):
    """Checks that a message has all properties of its advertised schema and, within, no others."""
    for name, schema in properties["properties"].items():
        assert name in message, name
        kinds = {"number": (int, float, type(None)), "integer": int, "string": str,
                 "boolean": bool, "array": list, "object": dict}
        assert isinstance(message[name], kinds[schema["type"]]), name


async def follow(address, protocol, counts):
    async with websockets.connect(address, subprotocols=[protocol]) as socket:
        assert socket.subprotocol == protocol
        channels, wanted = {}, {}
        greeting = json.loads(await socket.recv())
        assert greeting["op"] == "serverInfo" and greeting["supportedEncodings"] == ["json"]
        while not wanted or any(counts.get(topic, 0) < number for topic, number in wanted.items()):
            frame = await socket.recv()
            if isinstance(frame, str):
                message = json.loads(frame)
                assert message["op"] == "advertise", message
                for channel in message["channels"]:
                    assert channel["encoding"] == "json"
                    assert channel["schemaEncoding"] == "jsonschema"
                    channel["schema"] = json.loads(channel["schema"])
                    channels[100 + channel["id"]] = channel
                    once = channel["topic"] in ("/scene", "/log")
                    if channel["topic"] != "/estimates":
                        wanted[channel["topic"]] = 1 if once else MESSAGES_PER_TOPIC
                new = [{"id": 100 + each["id"], "channelId": each["id"]}
                       for each in message["channels"]]
                await socket.send(json.dumps({"op": "subscribe", "subscriptions": new}))
                if "/scene" not in wanted:
                    wanted["/scene"] = 1  # follows once the rig file is read
                continue
            opcode, subscription, time_ns = struct.unpack_from("<BIQ", frame)
            assert opcode == 1
            channel = channels[subscription]
            message = json.loads(frame[13:])
            check_schema(channel["schema"], message)
            time = message.get("timestamp")
            if time is not None:
                assert time["sec"] * 10**9 + time["nsec"] == time_ns
            official = official_type(channel["schemaName"])
            if official is not None:
                json_format.ParseDict(with_protobuf_times(message), official())
            counts[channel["topic"]] = counts.get(channel["topic"], 0) + 1
            last = counts.setdefault("last", {})
            last[channel["topic"]] = message


def main():
    counts = {}
    try:
        asyncio.run(asyncio.wait_for(follow(*sys.argv[1:], counts), PATIENCE_S))
    except TimeoutError:
        sys.exit(f"not all topics arrived: {[topic for topic in counts if topic != 'last']}")
    last = counts.pop("last")
    for topic in sorted(counts):
        print(topic, "received")
    print("joints", ",".join(joint["name"] for joint in last["/joint_states"]["joints"]))
    frames = [each["child_frame_id"] for each in last["/tf"]["transforms"]]
    print("frames", ",".join(frames))
    for entity in last["/scene"]["entities"]:
        assert entity["frame_id"] in frames, entity["frame_id"]


main()
