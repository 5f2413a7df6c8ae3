"""A conversation as LoCoMo's file has it: as tests give it to its readers."""

CONVERSATION = {
    "speaker_a": "Ann",
    "speaker_b": "Ben",
    "session_2_date_time": "12:05 am on 1 March, 2023",
    "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "Good night."}],
    "session_10_date_time": "9:00 am on 2 April, 2023",
    "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "Hello again."}],
    "session_1_date_time": "1:56 pm on 8 February, 2023",
    "session_1": [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a red kite"},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice."},
    ],
    "session_11_date_time": "9:00 am on 3 April, 2023",  # a session that was not held
}
