//! Stream capture, as far as streams, events and other threads feel it. What is captured is not kept: the graph is empty.

use cuda_sys::{
    CUgraph, CUgraphEdgeData, CUgraphNode, CUstream, CUstreamCaptureMode, CUstreamCaptureStatus,
};

use super::prelude::*;
use crate::state::capture::{Capture, GLOBAL, RELAXED, THREAD_LOCAL};

built! {
    cuStreamBeginCapture [cuStreamBeginCapture_ptsz] => begin_global, (stream: CUstream);
    cuStreamBeginCapture_v2 [cuStreamBeginCapture_v2_ptsz] => begin, (stream: CUstream, mode: CUstreamCaptureMode);
    cuStreamEndCapture [cuStreamEndCapture_ptsz] => end, (stream: CUstream, graph: Out<CUgraph>);
    cuStreamIsCapturing [cuStreamIsCapturing_ptsz] => is_capturing, (stream: CUstream, status: Out<CUstreamCaptureStatus>);
    cuStreamGetCaptureInfo [cuStreamGetCaptureInfo_ptsz] => info, (stream: CUstream, status: Out<CUstreamCaptureStatus>, id: Out<u64>);
    cuStreamGetCaptureInfo_v2 [cuStreamGetCaptureInfo_v2_ptsz] => info_2, (
        stream: CUstream, status: Out<CUstreamCaptureStatus>, id: Out<u64>, graph: Out<CUgraph>,
        dependencies: Out<*const CUgraphNode>, count: Out<usize>
    );
    cuStreamGetCaptureInfo_v3 [cuStreamGetCaptureInfo_v3_ptsz] => info_3, (
        stream: CUstream, status: Out<CUstreamCaptureStatus>, id: Out<u64>, graph: Out<CUgraph>,
        dependencies: Out<*const CUgraphNode>, edges: Out<*const CUgraphEdgeData>, count: Out<usize>
    );
    cuThreadExchangeStreamCaptureMode => exchange_mode, (mode: Out<CUstreamCaptureMode>);
    cuGraphDestroy => destroy_graph, (graph: CUgraph);
}

fn begin_global(call: &Call<'_>, stream: CUstream) -> Answer {
    begin(call, stream, CUstreamCaptureMode(0))
}

fn begin(call: &Call<'_>, stream: CUstream, mode: CUstreamCaptureMode) -> Answer {
    let mut state = call.state();
    let handle = call.stream(stream);
    let target = state.stream(call.thread, handle, call.number)?;
    let mode = mode.0;
    if mode > RELAXED {
        return Err(code::INVALID_VALUE);
    }
    if target.handle <= 2 {
        // The legacy stream cannot be captured, and the per-thread stream's capture is not built.
        return Err(if target.handle == 1 {
            code::STREAM_CAPTURE_UNSUPPORTED
        } else {
            code::NOT_SUPPORTED
        });
    }
    if target.capture.is_some() {
        return Err(code::ILLEGAL_STATE);
    }
    state.capture_ids += 1;
    let id = state.capture_ids;
    state
        .captures
        .insert(id, Capture::new(call.thread, mode, handle));
    state.streams.get_mut(handle)?.capture = Some(id);
    Ok(())
}

fn end(call: &Call<'_>, stream: CUstream, graph: Out<CUgraph>) -> Answer {
    let graph = graph.check()?;
    let mut state = call.state();
    let stream = state.stream(call.thread, call.stream(stream), call.number)?;
    let id = stream.capture.ok_or(code::ILLEGAL_STATE)?;
    let capture = state.captures.get(&id).ok_or(code::ILLEGAL_STATE)?;
    if capture.origin != stream.handle {
        return Err(code::STREAM_CAPTURE_UNMATCHED);
    }
    let wrong_thread = capture.mode != RELAXED && capture.thread != call.thread;
    let (invalidated, unjoined) = (capture.invalidated, capture.is_unjoined());
    state.end_capture(id);
    if wrong_thread {
        return Err(code::STREAM_CAPTURE_WRONG_THREAD);
    }
    if invalidated || unjoined {
        graph.set(std::ptr::null_mut());
        return Err(if invalidated {
            code::STREAM_CAPTURE_INVALIDATED
        } else {
            code::STREAM_CAPTURE_UNJOINED
        });
    }
    graph.set(handle(state.graphs.insert(())));
    Ok(())
}

/// Status and number of the capture on a stream.
fn status_of(call: &Call<'_>, stream: CUstream) -> Result<(CUstreamCaptureStatus, u64), CUresult> {
    let mut state = call.state();
    let stream = state.stream(call.thread, call.stream(stream), call.number)?;
    state.check_implicit_query(&stream)?;
    Ok(
        match stream
            .capture
            .and_then(|id| Some((id, state.captures.get(&id)?)))
        {
            None => (CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, 0),
            Some((id, capture)) if capture.invalidated => (
                CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED,
                id,
            ),
            Some((id, _)) => (CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE, id),
        },
    )
}

fn is_capturing(call: &Call<'_>, stream: CUstream, status: Out<CUstreamCaptureStatus>) -> Answer {
    let status = status.check()?;
    status.set(status_of(call, stream)?.0);
    Ok(())
}

fn info(
    call: &Call<'_>,
    stream: CUstream,
    status: Out<CUstreamCaptureStatus>,
    id: Out<u64>,
) -> Answer {
    let status = status.check()?;
    let (found, number) = status_of(call, stream)?;
    status.set(found);
    if number != 0 {
        id.set(number);
    }
    Ok(())
}

fn info_2(
    call: &Call<'_>,
    stream: CUstream,
    status: Out<CUstreamCaptureStatus>,
    id: Out<u64>,
    graph: Out<CUgraph>,
    dependencies: Out<*const CUgraphNode>,
    count: Out<usize>,
) -> Answer {
    info(call, stream, status, id)?;
    // The graph that is being captured is not built.
    graph.set(std::ptr::null_mut());
    dependencies.set(std::ptr::null());
    count.set(0);
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "the C function has them")]
fn info_3(
    call: &Call<'_>,
    stream: CUstream,
    status: Out<CUstreamCaptureStatus>,
    id: Out<u64>,
    graph: Out<CUgraph>,
    dependencies: Out<*const CUgraphNode>,
    edges: Out<*const CUgraphEdgeData>,
    count: Out<usize>,
) -> Answer {
    edges.set(std::ptr::null());
    info_2(call, stream, status, id, graph, dependencies, count)
}

fn exchange_mode(call: &Call<'_>, mode: Out<CUstreamCaptureMode>) -> Answer {
    let mode = mode.check()?;
    let wanted = mode.read()?.0;
    if !matches!(wanted, GLOBAL | THREAD_LOCAL | RELAXED) {
        return Err(code::INVALID_VALUE);
    }
    let mut state = call.state();
    let thread = state.threads.entry(call.thread).or_default();
    let former = std::mem::replace(&mut thread.capture_mode, wanted);
    mode.set(CUstreamCaptureMode(former as _));
    Ok(())
}

fn destroy_graph(call: &Call<'_>, graph: CUgraph) -> Answer {
    let mut state = call.state();
    let reuse = state.options.reuse_handles;
    state
        .graphs
        .remove(number(graph), reuse)
        .map_err(|_| code::INVALID_VALUE)
}
